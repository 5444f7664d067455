//! Blocks run window by window, on one or more threads, and exchange mail at the ends of windows.
//!
//! A thread has a share of blocks that follow each other. A block takes the mail of all others at the same time, so the
//! events of a cycle from many blocks are next to each other in its wheel. Mail from another thread is in a slot, so
//! that its sender can continue.

use std::cell::UnsafeCell;
use std::panic::resume_unwind;
use weft_api::base::barrier::{Barrier, Poison};
use weft_api::base::cores::pin;
use weft_kernel::block::Mail;
use weft_kernel::face::AnyBlock;
use weft_kernel::net::Net;

/// The windows of an advance. `done`: number of windows of the run before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windows {
    pub now: u64,
    pub until: u64,
    pub length: u64,
    pub done: u64,
}

/// Mail between blocks of different threads: for each parity of the window, a slot for each sender and receiver.
#[derive(Debug)]
pub(super) struct Post {
    slots: Vec<Slot>,
    blocks: usize,
    /// Blocks of a thread; the last one may have fewer.
    share: usize,
}

/// Written by the sender's thread before the barrier at the end of its window, read by the receiver's thread after it. The sender
/// writes it again two windows later, after the next barrier.
#[derive(Debug)]
struct Slot(UnsafeCell<Mail>);

// SAFETY: barriers separate all uses, see above; `advance_share` is the only user.
unsafe impl Sync for Slot {}

/// Blocks of each thread; the last one may have fewer. 4 blocks on 3 threads give 2 threads with 2 blocks each.
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

/// Advances all blocks through the windows, each thread on the core with its number if there are cores. If a thread
/// panics, the others stop at the end of their window, and the panic continues here.
pub(super) fn advance_all(
    net: &Net,
    blocks: &mut [Box<dyn AnyBlock>],
    (post, cores): (&Post, &[usize]),
    windows: Windows,
) {
    let barrier = &Barrier::new(post.threads());
    let mut shares = blocks.chunks_mut(post.share).enumerate();
    let (_, mine) = shares.next().expect("at least one block");
    if post.slots.is_empty() {
        return advance_share(net, (mine, 0), post, windows, barrier); // a scope of threads would allocate memory
    }
    std::thread::scope(|scope| {
        let _poison = Poison(barrier); // if the system refuses a thread, the running ones do not wait for it
        let start = |(k, blocks)| {
            scope.spawn(move || {
                if let Some(&core) = cores.get(k) {
                    pin(core); // the run was refused if that was impossible when it began
                }
                advance_share(net, (blocks, k * post.share), post, windows, barrier);
            })
        };
        let others: Vec<_> = shares.map(start).collect();
        advance_share(net, (mine, 0), post, windows, barrier);
        if let Some(panic) = others.into_iter().find_map(|thread| thread.join().err()) {
            resume_unwind(panic);
        }
    });
}

/// Advances the blocks of one thread, of which the first has number `first`.
fn advance_share(
    net: &Net,
    (blocks, first): (&mut [Box<dyn AnyBlock>], usize),
    post: &Post,
    windows: Windows,
    barrier: &Barrier,
) {
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
            return; // another thread has panicked
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
}

/// Gives block `k` of a thread the mail of the other blocks of this thread, of which the first has number `first`.
pub(super) fn take_of_thread(net: &Net, blocks: &mut [Box<dyn AnyBlock>], k: usize, first: usize) {
    for from in (0..blocks.len()).filter(|&from| from != k) {
        let mut mail = std::mem::take(&mut blocks[from].outbox_mut()[first + k]);
        blocks[k].take(net, &mut mail);
        blocks[from].outbox_mut()[first + k] = mail;
    }
}
