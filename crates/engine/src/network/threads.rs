//! Runs the blocks window by window, on one or more threads. At the end of each window, the blocks exchange mail.
//!
//! A run starts its additional threads when it first advances on several threads. The threads do not end after an advance but wait for the
//! next one, because an advance can be as short as a few cycles. Each thread runs a share of consecutive blocks. A block receives the mail
//! of all other blocks together, at the end of the window, so that events of the same cycle are next to each other in the wheel of the
//! block. Mail to another thread is stored in a slot, so that the sending thread can continue without waiting.

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use weft_api::base::barrier::{Barrier, Poison};
use weft_api::base::cores::pin;
use weft_kernel::block::Mail;
use weft_kernel::face::AnyBlock;
use weft_kernel::net::Net;

/// The windows of one advance. `done`: number of windows that the run had finished before this advance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windows {
    pub now: u64,
    pub until: u64,
    pub length: u64,
    pub done: u64,
}

/// Slots for mail between blocks of different threads: one slot for each sender and each receiver, for windows with an even number and for
/// windows with an odd number.
#[derive(Debug)]
pub(super) struct Post {
    slots: Vec<Slot>,
    blocks: usize,
    /// Number of blocks of each thread; the last thread can have fewer.
    share: usize,
}

/// The sender's thread writes the slot before the barrier at the end of its window, and the receiver's thread reads it after the barrier.
/// The sender writes the same slot again only two windows later, after one more barrier.
#[derive(Debug)]
struct Slot(UnsafeCell<Mail>);

// SAFETY: barriers separate all uses, as described above; `advance_share` is the only user.
unsafe impl Sync for Slot {}

/// Number of blocks of each thread; the last thread can have fewer. For example, 4 blocks on 3 threads: 2 threads get 2 blocks each.
pub(super) fn blocks_of_thread(blocks: usize, threads: usize) -> usize {
    blocks.div_ceil(threads)
}

impl Post {
    pub(super) fn new(blocks: &[Box<dyn AnyBlock>], threads: usize) -> Self {
        let share = blocks_of_thread(blocks.len(), threads);
        let apart = |from: usize, to: usize| from / share != to / share;
        let slots = || {
            blocks.iter().enumerate().flat_map(|(from, block)| {
                let slot =
                    move |(to, mail)| if apart(from, to) { Mail::with_capacity_of(mail) } else { Mail::default() };
                block.outbox().iter().enumerate().map(slot).map(|mail| Slot(UnsafeCell::new(mail)))
            })
        };
        let slots = if share == blocks.len() { Vec::new() } else { slots().chain(slots()).collect() };
        Self { slots, blocks: blocks.len(), share }
    }

    pub(super) fn threads(&self) -> usize {
        self.blocks.div_ceil(self.share)
    }

    fn slot(&self, window: u64, from: usize, to: usize) -> *mut Mail {
        self.slots[((window % 2) as usize * self.blocks + from) * self.blocks + to].0.get()
    }
}

/// The additional threads of a run, without the thread that advances the simulation.
#[derive(Debug)]
pub(super) struct Crew {
    common: Arc<Common>,
    threads: Vec<JoinHandle<()>>,
}

/// The state that all threads of a run share.
struct Common {
    barrier: Barrier,
    /// Number of advances that have begun.
    advances: AtomicUsize,
    advance: UnsafeCell<Option<Advance>>,
    /// Whether the run has ended, so that its additional threads must end.
    is_over: AtomicBool,
}

/// The data that the threads need for one advance of all blocks.
#[derive(Clone, Copy)]
struct Advance {
    net: *const Net,
    blocks: *mut Box<dyn AnyBlock>,
    post: *const Post,
    windows: Windows,
}

// SAFETY: the thread that started the run writes `advance` only while all other threads wait until `advances` grows. The pointers of an
// advance come from references that `advance_all` holds until no thread uses the pointers any more.
unsafe impl Sync for Common {}
// SAFETY: the same as for `Sync`.
unsafe impl Send for Common {}

impl fmt::Debug for Common {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Common").field("advances", &self.advances).finish_non_exhaustive()
    }
}

/// Number of times that a waiting thread checks for the next advance before it sleeps. The number is large because most advances follow
/// each other within a few microseconds.
const LOOKS: u32 = 4096;

impl Common {
    /// Waits for the advance with index `advances`. Returns `None` if the run has ended.
    fn next(&self, advances: usize) -> Option<Advance> {
        let mut looks = 0;
        while self.advances.load(Ordering::Acquire) == advances {
            looks += 1;
            if looks < LOOKS { std::hint::spin_loop() } else { std::thread::park() }
        }
        // SAFETY: `advance` is not written again before this thread has reached the end of this advance.
        if self.is_over.load(Ordering::Acquire) { None } else { unsafe { *self.advance.get() } }
    }

    /// Main function of thread `k`: in each advance, it runs the thread's share of the blocks.
    fn serve(&self, k: usize) {
        let mut advances = 0;
        while let Some(advance) = self.next(advances) {
            advances += 1;
            // SAFETY: the references in `advance_all` live until this thread has reached the last barrier or has ended.
            let (net, post) = unsafe { (&*advance.net, &*advance.post) };
            let (first, end) = (k * post.share, ((k + 1) * post.share).min(post.blocks));
            // SAFETY: the block slice lives as long as these references, and no two threads share a block.
            let mine = unsafe { std::slice::from_raw_parts_mut(advance.blocks.add(first), end - first) };
            if !advance_share(net, (mine, first), post, advance.windows, &self.barrier) || !self.barrier.wait() {
                return; // another thread has panicked
            }
        }
    }
}

impl Crew {
    /// Starts threads 1 to `threads` - 1. Thread 0 is the calling thread. If `cores` is not empty, thread `k` runs only on the core
    /// `cores[k]`.
    fn new(threads: usize, cores: &[usize]) -> Self {
        let common = Arc::new(Common {
            barrier: Barrier::new(threads),
            advances: AtomicUsize::new(0),
            advance: UnsafeCell::new(None),
            is_over: AtomicBool::new(false),
        });
        let start = |k: usize| {
            let (common, core) = (Arc::clone(&common), cores.get(k).copied());
            std::thread::spawn(move || {
                if let Some(core) = core {
                    pin(core); // a run whose threads cannot be pinned was refused before
                }
                common.serve(k);
            })
        };
        let threads = (1..threads).map(start).collect();
        Self { common, threads }
    }

    fn begin(&mut self, advance: Option<Advance>) {
        // SAFETY: all other threads wait, as described at the `Sync` implementation of `Common`.
        unsafe { *self.common.advance.get() = advance };
        self.common.advances.fetch_add(1, Ordering::Release);
        self.threads.iter().for_each(|thread| thread.thread().unpark());
    }

    /// Waits until the threads have ended. Returns the first panic of a thread, if any.
    fn end(&mut self) -> Option<Box<dyn std::any::Any + Send>> {
        let panics = self.threads.drain(..).filter_map(|thread| thread.join().err());
        panics.reduce(|first, _| first)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.common.is_over.store(true, Ordering::Release);
        self.begin(None);
        self.end();
    }
}

/// Advances all blocks through the given windows, on all threads. If `cores` is not empty, each additional thread `k` runs only on the core
/// `cores[k]`. If a thread panics, the other threads stop at the end of their windows, and the panic continues in the calling thread.
pub(super) fn advance_all(
    net: &Net,
    blocks: &mut [Box<dyn AnyBlock>],
    (post, crew): (&Post, &mut Option<Crew>),
    cores: &[usize],
    windows: Windows,
) {
    if post.slots.is_empty() {
        advance_share(net, (blocks, 0), post, windows, &Barrier::new(1));
        return;
    }
    let crew = crew.get_or_insert_with(|| Crew::new(post.threads(), cores));
    let blocks = blocks.as_mut_ptr();
    crew.begin(Some(Advance { net, blocks, post, windows }));
    let ended = EndsInPanic(crew);
    let barrier = &ended.0.common.barrier;
    // SAFETY: the first share of the blocks belongs only to this thread.
    let mine = unsafe { std::slice::from_raw_parts_mut(blocks, post.share) };
    let is_done = advance_share(net, (mine, 0), post, windows, barrier) && barrier.wait();
    if !is_done && let Some(panic) = ended.0.end() {
        resume_unwind(panic);
    }
}

/// A guard for a panic of this thread. When dropped in a panic, the guard waits until the other threads have ended, because they use data
/// that the panic would free.
struct EndsInPanic<'a>(&'a mut Crew);

impl Drop for EndsInPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

/// Advances the blocks of one thread through the windows. `first`: index of the thread's first block. Returns false if another thread has
/// panicked.
fn advance_share(
    net: &Net,
    (blocks, first): (&mut [Box<dyn AnyBlock>], usize),
    post: &Post,
    windows: Windows,
    barrier: &Barrier,
) -> bool {
    let Windows { mut now, until, length, done } = windows;
    let _poison = Poison(barrier);
    let mine = first..first + blocks.len();
    let mut window = done;
    while now < until {
        now = now.saturating_add(length).min(until);
        for (k, block) in blocks.iter_mut().enumerate() {
            block.advance(net, now);
            for to in (0..post.blocks).filter(|to| !mine.contains(to)) {
                // SAFETY: only this thread uses the slot before the barrier.
                std::mem::swap(unsafe { &mut *post.slot(window, first + k, to) }, &mut block.outbox_mut()[to]);
            }
        }
        if !barrier.wait() {
            return false;
        }
        for k in 0..blocks.len() {
            take_of_thread(net, blocks, k, first);
            for from in (0..post.blocks).filter(|from| !mine.contains(from)) {
                // SAFETY: only this thread uses the slot between this barrier and the next.
                blocks[k].take(net, unsafe { &mut *post.slot(window, from, first + k) });
            }
        }
        window += 1;
    }
    true
}

/// Delivers to block `k` of a thread the mail of the other blocks of this thread. `first`: index of the thread's first block.
pub(super) fn take_of_thread(net: &Net, blocks: &mut [Box<dyn AnyBlock>], k: usize, first: usize) {
    for from in (0..blocks.len()).filter(|&from| from != k) {
        let mut mail = std::mem::take(&mut blocks[from].outbox_mut()[first + k]);
        blocks[k].take(net, &mut mail);
        blocks[from].outbox_mut()[first + k] = mail;
    }
}
