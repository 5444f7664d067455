//! The memory allocator of the Python module. If the system has no memory left, the process ends with one line that states this and the
//! remedy. (The allocator of the standard library would abort the process without this line.)

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

#[global_allocator]
static HEAP: Heap = Heap;

struct Heap;

unsafe extern "C" {
    fn _exit(status: i32) -> !;
}

/// Exit status for bad input. The allocator uses it because a scenario that exhausts the memory is too large for the machine.
const BAD_INPUT: i32 = 2;

/// Returns the pointer from an allocation; if the pointer is null, ends the process.
#[inline(always)]
fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        none_left(bytes);
    }
    memory
}

/// Ends the process because no memory is left. Code in this function must not allocate memory.
#[cold]
#[inline(never)]
fn none_left(bytes: usize) -> ! {
    let mut line = [0u8; 192];
    let mut rest = &mut line[..];
    // if the line does not fit into the buffer, it is truncated
    let _ = writeln!(
        rest,
        "error: out of memory: the system refused another {bytes} bytes\n  = help: run fewer points at a time (--jobs 1), \
         or a smaller network; weft check shows the memory of a point"
    );
    let left = rest.len();
    let _ = std::io::stderr().write_all(&line[..192 - left]);
    // SAFETY: _exit accepts any number, and runs no further code of this process.
    unsafe { _exit(BAD_INPUT) }
}

// SAFETY: all memory comes from `System`, which gives the required guarantees; `given` returns its argument unchanged.
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
