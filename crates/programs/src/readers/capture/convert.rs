//! Passes the records of one recording to a recorder of calls.

use super::stream::{Kind, Record, Stream};
use crate::form::Operation;
use crate::mpi::{Assumed, Completion, Handles, On, Peer, Problem, Recorder};
use crate::readers::timer::{Clocks, Timer};
use crate::readers::trace_files::Clock;
use std::collections::BTreeMap;
use weft_units::Refusal;

/// Numbers that the format uses for the predefined communicators.
const HANDLES: Handles = Handles { world: 0, own: 1, none: -1 };
const ANY: i64 = -1;
const NOBODY: i64 = -2;
/// Request number in the record of a blocking collective.
const BLOCKING: i64 = 0;
/// Records are collectives if their kind has this number or a higher one.
const FIRST_COLLECTIVE: u16 = 32;

/// Sums over a file: number of sends, bytes of all sends, number of receives, number of collectives.
type Sums = [u64; 4];

/// Reads the file of one rank.
pub fn rank(file: &str, bytes: &[u8], clock: Option<Clock>) -> Result<Recorder, Refusal> {
    let mut stream = Stream::new(file, bytes);
    let mut recorder = Recorder::new(HANDLES);
    let mut timer = Timer::new(clock);
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    let (mut unrecorded, mut sums) = ([0; 2], Sums::default());
    let mut last = None;
    while let Some(record) = stream.read()? {
        let at = |(what, help): Problem| stream.refusal(record.place, &what, &help);
        if last == Some(Kind::Finalize) {
            return Err(at(damaged("a record follows MPI_Finalize")));
        }
        last = record.kind;
        let Some(kind) = record.kind.filter(|_| !record.is_of_other_thread) else {
            let name =
                if record.kind.is_some() { "calls of a second thread".to_owned() } else { unknown(record.number) };
            *refused.entry(name).or_default() += 1;
            continue;
        };
        let call = Call { record, kind };
        call.check().map_err(at)?;
        if kind == Kind::Refused {
            *refused.entry(record.text()).or_default() += 1;
            continue;
        }
        // the file will be refused because of an earlier call; later records are not read, because they might depend on
        // that call
        if !refused.is_empty() {
            continue;
        }
        if let Some(first) = call.times_at() {
            if kind == Kind::Pause {
                recorder.assume(Assumed::NotRecorded);
            }
            let [wall, processor] = [call.size(first).map_err(at)?, call.size(first + 1).map_err(at)?];
            unrecorded = [processor.saturating_add(unrecorded[0]), wall.saturating_add(unrecorded[1])];
            continue;
        }
        let clocks = Clocks { processor: Some(record.processor), wall: Some(record.wall), unrecorded };
        timer.compute(&clocks, &mut recorder).map_err(at)?;
        unrecorded = [0; 2];
        call.take(&mut recorder, &mut sums).map_err(at)?;
    }
    if !refused.is_empty() {
        let calls: Vec<String> = refused.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let what = format!("the program made calls that the recording does not contain: {}", calls.join(", "));
        return Err(Refusal::new(file, what, "record a run of the program without these calls"));
    }
    if last != Some(Kind::Finalize) {
        let help = "wait until the program has ended; if the program was stopped, record a complete run";
        return Err(Refusal::new(file, "the file ends before MPI_Finalize", help));
    }
    recorder.end();
    Ok(recorder)
}

fn unknown(number: u16) -> String {
    format!("records of kind {number}, which this version of Weft does not know")
}

fn damaged(what: &str) -> Problem {
    (what.to_owned(), "the file is damaged: copy it again".to_owned())
}

/// A record of a known kind, which the reader passes to the recorder.
struct Call<'a> {
    record: Record<'a>,
    kind: Kind,
}

impl Call<'_> {
    /// Refuses a record with the wrong number of words for its kind.
    fn check(&self) -> Result<(), Problem> {
        let (words, length) = (self.record.count(), self.words());
        let fits = match length {
            Words::Exactly(wanted) => words == wanted,
            Words::From(least, step) => words >= least && (words - least).is_multiple_of(step),
        };
        if fits {
            Ok(())
        } else {
            Err(damaged(&format!("a record of {:?} has the wrong length: {words} words", self.kind)))
        }
    }

    /// For records that are not calls: returns the index of the first of two words with times \[ns\]. These times do
    /// not count as computation.
    fn times_at(&self) -> Option<usize> {
        [(Kind::Poll, 1), (Kind::Pause, 0)].into_iter().find(|each| each.0 == self.kind).map(|each| each.1)
    }

    /// Returns the number of words of a record of this kind. A `Sendrecv` has the words of a send and of a receive.
    const fn words(&self) -> Words {
        match self.kind {
            Kind::Init | Kind::File | Kind::Probe => Words::Exactly(0),
            Kind::RequestFree | Kind::Cancel => Words::Exactly(1),
            Kind::Barrier | Kind::Pause => Words::Exactly(2),
            Kind::Poll | Kind::Allreduce | Kind::Allgather | Kind::Alltoall | Kind::Scan => Words::Exactly(3),
            Kind::Finalize | Kind::Send | Kind::Bcast | Kind::Reduce | Kind::Gather | Kind::Scatter => {
                Words::Exactly(4)
            }
            Kind::Isend | Kind::Irecv | Kind::SendInit | Kind::RecvInit => Words::Exactly(5),
            Kind::Recv => Words::Exactly(7),
            Kind::Sendrecv => Words::Exactly(10),
            Kind::Refused | Kind::Start => Words::From(0, 1),
            Kind::Comm => Words::From(1, 1),
            Kind::Complete => Words::From(0, 5),
            Kind::Gatherv | Kind::Scatterv | Kind::Allgatherv | Kind::ReduceScatter => Words::From(3, 1),
            Kind::Alltoallv => Words::From(2, 2),
        }
    }

    fn word(&self, place: usize) -> i64 {
        self.record.word(place)
    }

    /// Reads a word that must be a size; refuses a negative number.
    fn size(&self, place: usize) -> Result<u64, Problem> {
        size(self.word(place))
    }

    fn root(&self) -> Result<u32, Problem> {
        u32::try_from(self.word(2)).map_err(|_| damaged(&format!("{} is not a valid rank of a root", self.word(2))))
    }

    /// Returns the communicator and the request of a collective.
    fn on(&self) -> On {
        let request = Some(self.word(1)).filter(|&request| request != BLOCKING);
        On { comm: self.word(0), request }
    }

    /// Returns peer, bytes and tag of a message, which are consecutive words. The word of the peer is the first of
    /// them.
    fn message(&self, peer_at: usize) -> Result<(Peer, u64, Option<u32>), Problem> {
        Ok((peer(self.word(peer_at))?, self.size(peer_at + 2)?, tag(self.word(peer_at + 1))?))
    }

    /// Returns the status of a receive. The status begins at word `place`.
    fn done(&self, place: usize) -> Result<Completion, Problem> {
        let tag = u32::try_from(self.word(place + 1)).unwrap_or(0);
        Ok(Completion { peer: peer(self.word(place))?, tag, bytes: self.size(place + 2)?, is_cancelled: false })
    }

    fn sizes(&self, words: std::ops::Range<usize>) -> Result<Vec<u64>, Problem> {
        words.map(|place| self.size(place)).collect()
    }

    fn take(&self, recorder: &mut Recorder, sums: &mut Sums) -> Result<(), Problem> {
        use Operation::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};
        self.count(sums)?;
        match self.kind {
            Kind::Init | Kind::Poll | Kind::Pause | Kind::Refused => Ok(()),
            Kind::Finalize => self.check_sums(*sums),
            Kind::Comm => self.create(recorder),
            Kind::File => {
                recorder.assume(Assumed::FileOpened);
                Ok(())
            }
            Kind::Send => {
                let (peer, bytes, tag) = self.message(1)?;
                recorder.send(peer, bytes, tag, self.word(0))
            }
            Kind::Recv => {
                let (peer, bytes, tag) = self.message(1)?;
                recorder.receive(peer, bytes, tag, self.word(0), Some(self.done(4)?))
            }
            Kind::Sendrecv => recorder.exchange(self.message(1)?, self.message(4)?, self.word(0), Some(self.done(7)?)),
            Kind::Isend => recorder.start(false, false, self.message(1)?, self.word(0), self.word(4)),
            Kind::Irecv => recorder.start(true, false, self.message(1)?, self.word(0), self.word(4)),
            Kind::SendInit => recorder.start(false, true, self.message(1)?, self.word(0), self.word(4)),
            Kind::RecvInit => recorder.start(true, true, self.message(1)?, self.word(0), self.word(4)),
            Kind::Start => {
                self.record.words(0).for_each(|request| recorder.restart(request));
                Ok(())
            }
            Kind::Complete => {
                self.complete(recorder);
                Ok(())
            }
            Kind::RequestFree => {
                recorder.free(self.word(0));
                Ok(())
            }
            Kind::Cancel => {
                recorder.cancel(self.word(0));
                Ok(())
            }
            Kind::Probe => {
                recorder.assume(Assumed::Probe);
                Ok(())
            }
            Kind::Barrier => recorder.collective(Barrier, 0, 0, self.on()),
            Kind::Bcast => recorder.collective(Broadcast, self.root()?, self.size(3)?, self.on()),
            Kind::Reduce => recorder.collective(Reduce, self.root()?, self.size(3)?, self.on()),
            Kind::Gather => recorder.collective(Gather, self.root()?, self.size(3)?, self.on()),
            Kind::Scatter => recorder.collective(Scatter, self.root()?, self.size(3)?, self.on()),
            Kind::Allreduce => recorder.collective(AllReduce, 0, self.size(2)?, self.on()),
            Kind::Allgather => recorder.collective(AllGather, 0, self.size(2)?, self.on()),
            Kind::Alltoall => recorder.collective(AllToAll, 0, self.size(2)?, self.on()),
            Kind::Gatherv => recorder.blocks(Gather, self.root()?, self.blocks()?, self.on()),
            Kind::Scatterv => recorder.blocks(Scatter, self.root()?, self.blocks()?, self.on()),
            Kind::Allgatherv => recorder.blocks(AllGather, 0, self.blocks()?, self.on()),
            Kind::ReduceScatter => recorder.blocks(ReduceScatter, 0, self.blocks()?, self.on()),
            Kind::Alltoallv => {
                let middle = usize::midpoint(2, self.record.count());
                let (sends, receives) = (self.sizes(2..middle)?, self.sizes(middle..self.record.count())?);
                recorder.exchange_blocks(sends, receives, self.on())
            }
            Kind::Scan => recorder.scan(self.size(2)?, self.word(0)),
        }
    }

    /// Returns the sizes of all blocks, if the rank of this file knows them.
    fn blocks(&self) -> Result<Option<Vec<u64>>, Problem> {
        if self.record.count() == 3 { Ok(None) } else { self.sizes(3..self.record.count()).map(Some) }
    }

    fn create(&self, recorder: &mut Recorder) -> Result<(), Problem> {
        let members: Result<Vec<u32>, _> = self.record.words(1).map(u32::try_from).collect();
        let members = members.map_err(|_| damaged("a communicator has a rank outside of MPI_COMM_WORLD"))?;
        recorder.create_of(members, self.word(0))
    }

    /// Records that the requests of this record have ended.
    fn complete(&self, recorder: &mut Recorder) {
        for place in (0..self.record.count()).step_by(5) {
            let is_cancelled = self.word(place + 4) != 0;
            // the status of a send contains no source
            let done = self.done(place + 1).ok().map(|done| Completion { is_cancelled, ..done });
            recorder.complete(self.word(place), done);
        }
    }

    /// Adds this call to the counts of messages and collectives, by the rules of the recording library.
    fn count(&self, sums: &mut Sums) -> Result<(), Problem> {
        let [sends, sent, receives, collectives] = sums;
        if matches!(self.kind, Kind::Send | Kind::Isend | Kind::Sendrecv) && self.word(1) != NOBODY {
            *sends += 1;
            *sent = sent.saturating_add(self.size(3)?);
        }
        let source = if self.kind == Kind::Sendrecv { 4 } else { 1 };
        if matches!(self.kind, Kind::Recv | Kind::Irecv | Kind::Sendrecv) && self.word(source) != NOBODY {
            *receives += 1;
        }
        *collectives += u64::from(self.record.number >= FIRST_COLLECTIVE);
        Ok(())
    }

    fn check_sums(&self, sums: Sums) -> Result<(), Problem> {
        let wanted = [0, 1, 2, 3].map(|place| self.word(place).cast_unsigned());
        if sums == wanted {
            return Ok(());
        }
        Err(damaged(&format!(
            "the records have {sums:?} sends, sent bytes, receives and collectives, but the totals of the file are {wanted:?}"
        )))
    }
}

/// The number of words that a record can have.
enum Words {
    Exactly(usize),
    /// A record has the first number of words, and then any number of groups with the second number of words.
    From(usize, usize),
}

fn size(word: i64) -> Result<u64, Problem> {
    u64::try_from(word).map_err(|_| damaged(&format!("{word} is neither a size nor a time")))
}

fn peer(word: i64) -> Result<Peer, Problem> {
    match word {
        ANY => Ok(Peer::Any),
        NOBODY => Ok(Peer::Nobody),
        _ => u32::try_from(word).map(Peer::Rank).map_err(|_| damaged(&format!("{word} is not a rank"))),
    }
}

fn tag(word: i64) -> Result<Option<u32>, Problem> {
    match word {
        ANY => Ok(None),
        _ => u32::try_from(word).map(Some).map_err(|_| damaged(&format!("{word} is not a tag"))),
    }
}
