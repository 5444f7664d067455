//! The heap of the module. Where the system has no memory left, the process ends with one line that says so and what to
//! do: the standard library would abort it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

#[global_allocator]
static HEAP: Heap = Heap;

struct Heap;

unsafe extern "C" {
    fn _exit(status: i32) -> !;
}

/// Exit status of bad input: the scenario is too large for the machine.
const BAD_INPUT: i32 = 2;

/// The memory, unless there is none.
#[inline(always)]
fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        none_left(bytes);
    }
    memory
}

/// Ends the process. Nothing here may allocate.
#[cold]
#[inline(never)]
fn none_left(bytes: usize) -> ! {
    let mut line = [0u8; 192];
    let mut rest = &mut line[..];
    // a line that does not fit is cut
    let _ = writeln!(
        rest,
        "error: out of memory: the system refused another {bytes} bytes\n  = help: run fewer points at a time (--jobs 1), \
         or a smaller network; weft check tells how much a point takes"
    );
    let left = rest.len();
    let _ = std::io::stderr().write_all(&line[..192 - left]);
    // SAFETY: _exit takes any number and runs nothing of this process any more.
    unsafe { _exit(BAD_INPUT) }
}

// SAFETY: all memory is that of `System`, whose guarantees these are; `given` returns what it gets.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `System`.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `System`.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `System`.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `System`.
        unsafe { System.dealloc(memory, layout) }
    }
}
