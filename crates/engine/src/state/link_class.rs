//! Link classes and trunks, in the form that the loop needs.

/// A link class, in the form the loop needs.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Link {
    pub latency: u64,
    /// From the grant downstream until the credit can be used upstream.
    pub credit_latency: u64,
    pub buffer: u16,
    /// All VCs of a channel of this class.
    pub all: u16,
    /// VCs of each routing class.
    pub vcs_of: [u16; 16],
    /// Credits of a whole channel.
    pub capacity: u32,
}

impl Link {
    /// Whether none of the credits of a channel is in use.
    pub fn are_home(&self, credits: &[u16]) -> bool {
        (0..).zip(credits).all(|(vc, &free)| self.all >> vc & 1 == 0 || free == self.buffer)
    }

    /// VC class that VC `v` belongs to.
    #[inline(always)]
    pub fn class_of(&self, v: usize) -> u8 {
        self.vcs_of.iter().position(|vcs| vcs >> v & 1 != 0).unwrap_or(0) as u8
    }
}

/// Parallel links: the network ports of a router come in runs of `width` that lead to the same neighbour.
#[derive(Debug, Clone, Copy)]
pub struct Trunk {
    /// First network port.
    pub first: u8,
    pub width: u8,
}

impl Trunk {
    /// The ports of the trunk that `port` is a member of; a routing on any graph names whichever it finds.
    #[inline(always)]
    pub fn members(self, port: u8) -> std::ops::Range<u8> {
        if port < self.first {
            return port..port + 1;
        }
        let first = port - (port - self.first) % self.width;
        first..first + self.width
    }
}
