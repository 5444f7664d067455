//! Reads the lines and words of a GOAL file in text form.

use super::quantities::Quantity;
use crate::form::{Op, When};
use std::collections::BTreeMap;
use weft_units::Refusal;

/// A statement outside the blocks of ranks.
pub enum Token {
    Ranks(u32),
    Rank(u32),
}

/// A statement in the block of a rank.
pub enum Statement<'a> {
    Op { label: Option<&'a [u8]>, op: Op },
    Edge { later: &'a [u8], earlier: &'a [u8], when: When },
    End,
}

/// The present position in a GOAL file in text form.
pub struct Reader<'a> {
    pub file: &'a str,
    text: &'a [u8],
    at: usize,
    line: usize,
    /// Tags of more than 32 bits, by their lower 32 bits. A value has the whole tag, and the number of operations with
    /// this tag.
    pub folded: BTreeMap<u32, (u64, u64)>,
}

impl<'a> Reader<'a> {
    pub fn new(file: &'a str, text: &'a [u8]) -> Self {
        Self { file, text, at: 0, line: 1, folded: BTreeMap::new() }
    }

    /// Returns a refusal that names the present line.
    pub fn refusal(&self, what: &str, help: &str) -> Refusal {
        Refusal::new(format!("{}:{}", self.file, self.line), what, help)
    }

    /// Reads the next `num_ranks N` or `rank R {`; `None` at the end of the file.
    pub fn head(&mut self) -> Result<Option<Token>, Refusal> {
        self.skip_lines()?;
        if self.at == self.text.len() {
            return Ok(None);
        }
        match self.word() {
            b"num_ranks" => {
                let count = self.number("the number of ranks")?;
                Ok(Some(Token::Ranks(count)))
            }
            b"rank" => {
                let rank = self.number("a rank")?;
                self.skip_blanks()?;
                self.expect(b'{')?;
                Ok(Some(Token::Rank(rank)))
            }
            _ => Err(self.unexpected("num_ranks or rank")),
        }
    }

    /// Reads the next statement of a block.
    pub fn statement(&mut self) -> Result<Statement<'a>, Refusal> {
        self.skip_lines()?;
        match self.text.get(self.at) {
            None => {
                Err(self
                    .refusal("the file ends inside the block of a rank", "the file is cut off: close the block with }"))
            }
            Some(b'}') => {
                self.at += 1;
                Ok(Statement::End)
            }
            Some(_) => {
                let word = self.word();
                if matches!(word, b"send" | b"recv" | b"calc") {
                    return Ok(Statement::Op { label: None, op: self.operation(word)? });
                }
                if !word.first().is_some_and(u8::is_ascii_alphabetic) {
                    return Err(self.unexpected("send, recv, calc, a label or }"));
                }
                self.skip_blanks()?;
                if self.text.get(self.at) == Some(&b':') {
                    self.at += 1;
                    self.skip_blanks()?;
                    let kind = self.word();
                    return Ok(Statement::Op { label: Some(word), op: self.operation(kind)? });
                }
                let when = match self.word() {
                    b"requires" => When::Finish,
                    b"irequires" => When::Start,
                    _ => return Err(self.unexpected("`:`, requires or irequires")),
                };
                self.skip_blanks()?;
                let earlier = self.word();
                if earlier.is_empty() {
                    return Err(self.unexpected("a label"));
                }
                self.end_of_line()?;
                Ok(Statement::Edge { later: word, earlier, when })
            }
        }
    }

    fn operation(&mut self, kind: &[u8]) -> Result<Op, Refusal> {
        let op = match kind {
            b"calc" => Op::compute(self.nanoseconds()?),
            b"send" => {
                let bytes = self.bytes()?;
                self.keyword(b"to")?;
                Op::send(self.number("a rank")?, bytes, Some(0))
            }
            b"recv" => {
                let bytes = self.bytes()?;
                self.keyword(b"from")?;
                Op::receive(self.number_or_any("a rank")?, bytes, Some(0))
            }
            _ => return Err(self.unexpected("send, recv or calc")),
        };
        self.options(op, kind != b"calc")
    }

    /// Reads `tag T`, `cpu C` and `nic K` at the end of the statement of an operation.
    fn options(&mut self, mut op: Op, is_message: bool) -> Result<Op, Refusal> {
        loop {
            self.skip_blanks()?;
            let (cpu, nic) = (op.cpu(), op.nic());
            op = match self.word() {
                b"" => break,
                b"tag" if is_message => op.tagged(self.tag()?),
                b"cpu" => op.on(self.number("a processor (0 to 255)")?, nic),
                b"nic" if is_message => op.on(cpu, self.number("an interface (0 to 255)")?),
                _ => {
                    return Err(self.unexpected(if is_message {
                        "tag, cpu, nic or the end of the line"
                    } else {
                        "cpu or the end of the line"
                    }));
                }
            };
        }
        self.end_of_line()?;
        Ok(op)
    }

    /// Reads the time of a `calc`, which has no unit.
    fn nanoseconds(&mut self) -> Result<u64, Refusal> {
        let what = "a time [ns]";
        let (start, time) = self.digits(what)?;
        let is_plain = matches!(self.text[self.at..], [] | [b'\n' | b'\r' | b'}', ..]);
        match Quantity::time(&self.text[start..]).filter(|_| !is_plain) {
            None => Ok(time),
            Some(Quantity { written, whole }) => {
                let what = format!("expected {what} without a unit, found `{written}`");
                let help = format!("write the number of nanoseconds: `calc {}`", whole.unwrap_or(1));
                Err(self.refusal(&what, &help))
            }
        }
    }

    /// Reads a number of bytes and the letter `b` after it.
    fn bytes(&mut self) -> Result<u64, Refusal> {
        let (start, bytes) = self.digits("a number of bytes")?;
        if self.text.get(self.at) != Some(&b'b') {
            // in this format the letter `b` means bytes, but as the unit of a `Quantity` it means bits. A whole number
            // with the unit `b` is therefore not taken as a wrong unit
            let size = Quantity::size(&self.text[start..]).filter(|size| !size.is_in_b());
            if let Some(Quantity { written, whole }) = size {
                let what = format!("expected a number of bytes followed by `b`, found `{written}`");
                let help = format!("write the number of bytes: `{}b`", whole.unwrap_or(1));
                return Err(self.refusal(&what, &help));
            }
            self.skip_blanks()?;
            if self.text.get(self.at) != Some(&b'b') {
                let Refusal { what, .. } = self.unexpected("`b`");
                return Err(self.refusal(&what, &format!("write the letter b after the number of bytes: `{bytes}b`")));
            }
        }
        self.at += 1;
        Ok(bytes)
    }

    fn keyword(&mut self, word: &'static [u8]) -> Result<(), Refusal> {
        self.skip_blanks()?;
        if self.word() == word { Ok(()) } else { Err(self.unexpected(&String::from_utf8_lossy(word))) }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Refusal> {
        if self.text.get(self.at) == Some(&byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`", char::from(byte))))
    }

    fn number_or_any(&mut self, what: &str) -> Result<Option<u32>, Refusal> {
        self.skip_blanks()?;
        if self.text[self.at..].starts_with(b"-1") {
            self.at += 2;
            return Ok(None);
        }
        let number = self.number(what)?;
        if number == u32::MAX {
            return Err(self.refusal(
                &format!("{number} is reserved: it means any"),
                &format!("write -1 for any, or {what} below {number}"),
            ));
        }
        Ok(Some(number))
    }

    /// Reads a tag. -1 means any tag, which is returned as the largest 32-bit number. For a tag of more than 32 bits,
    /// returns its lower 32 bits, as `txt2bin` does. Refuses two such tags with the same lower bits.
    fn tag(&mut self) -> Result<u32, Refusal> {
        self.skip_blanks()?;
        if self.text[self.at..].starts_with(b"-1") {
            self.at += 2;
            return Ok(u32::MAX);
        }
        let tag: u64 = self.number("a tag")?;
        let small = tag as u32;
        if small == u32::MAX {
            let what = format!("tag {tag} is reserved: it means any tag");
            return Err(self.refusal(&what, &format!("write -1 for any tag, or a tag below {}", u32::MAX)));
        }
        if tag > u64::from(u32::MAX) {
            let (known, count) = self.folded.entry(small).or_insert((tag, 0));
            *count += 1;
            if *known != tag {
                let known = *known;
                return Err(self.two_tags(tag, known));
            }
        }
        Ok(small)
    }

    /// Returns the refusal of two tags with the same lower 32 bits.
    pub fn two_tags(&self, tag: u64, other: u64) -> Refusal {
        let what =
            format!("tags {tag} and {other} have the same lower 32 bits, but messages are matched by these bits");
        self.refusal(&what, &format!("use only tags below {} in the file", u32::MAX))
    }

    /// Reads a whole number that fits into `T`.
    fn number<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, Refusal> {
        let (start, number) = self.digits(what)?;
        if self.text.get(self.at) == Some(&b'.') {
            return Err(Refusal { help: "write a whole number".to_owned(), ..self.unexpected(what) });
        }
        T::try_from(number).map_err(|_| self.too_large(start, what))
    }

    /// Reads digits. Returns the position of the first digit, and the number.
    fn digits(&mut self, what: &str) -> Result<(usize, u64), Refusal> {
        self.skip_blanks()?;
        let (start, mut number) = (self.at, 0u64);
        while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            let next = number.checked_mul(10).and_then(|number| number.checked_add(u64::from(digit - b'0')));
            number = next.ok_or_else(|| self.too_large(start, what))?;
            self.at += 1;
        }
        if start == self.at { Err(self.unexpected(what)) } else { Ok((start, number)) }
    }

    fn too_large(&self, start: usize, what: &str) -> Refusal {
        let digits =
            self.text[start..].iter().take_while(|byte| byte.is_ascii_digit()).take(30).map(|&byte| char::from(byte));
        let what = format!("{} is too large for {what}", digits.collect::<String>());
        self.refusal(&what, "write a smaller number")
    }

    /// Reads the letters, digits and underscores that follow the present position.
    fn word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let length =
            rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn end_of_line(&mut self) -> Result<(), Refusal> {
        self.skip_blanks()?;
        match self.text[self.at..] {
            [] | [b'\n', ..] | [b'}', ..] | [b'\r', b'\n', ..] => Ok(()),
            _ => Err(self.unexpected("the end of the line")),
        }
    }

    /// Skips blanks and comments in the present line.
    fn skip_blanks(&mut self) -> Result<(), Refusal> {
        loop {
            match self.text[self.at..] {
                [b' ' | b'\t', ..] => self.at += 1,
                [b'/', b'/', ..] => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', ..] => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Refusal> {
        let rest = &self.text[self.at..];
        let Some(length) = rest[2..].windows(2).position(|pair| pair == b"*/") else {
            return Err(self.refusal("the comment that begins in this line has no end", "close it with */"));
        };
        self.line += rest[..length + 2].iter().filter(|&&byte| byte == b'\n').count();
        self.at += length + 4;
        Ok(())
    }

    /// Skips blanks, comments and ends of lines.
    fn skip_lines(&mut self) -> Result<(), Refusal> {
        loop {
            self.skip_blanks()?;
            match self.text[self.at..] {
                [b'\n', ..] => {
                    self.line += 1;
                    self.at += 1;
                }
                [b'\r', ..] => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    fn unexpected(&self, expected: &str) -> Refusal {
        let rest = &self.text[self.at..];
        let help = match rest.first() {
            None => "the file is cut off: copy or convert it again",
            Some(_) => "correct this line; docs/howto/programs.md shows the format",
        };
        let found = match rest.first() {
            None => "the end of the file".to_owned(),
            Some(b'\n' | b'\r') => "the end of the line".to_owned(),
            Some(_) => {
                let start =
                    self.text[..self.at].iter().rposition(|byte| byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
                let word = self.text[start..].iter().take(20).take_while(|byte| !byte.is_ascii_whitespace());
                format!("`{}`", word.map(|&byte| byte.escape_ascii().to_string()).collect::<String>())
            }
        };
        self.refusal(&format!("expected {expected}, found {found}"), help)
    }
}
