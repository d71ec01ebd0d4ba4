//! Random numbers of a connection end, all from one seed.

use quinn_proto::{ConnectionId, ConnectionIdGenerator};

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): seeds and connection IDs, where independence suffices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix(u64);

impl Mix {
    /// The stream of `seed` called `purpose`.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        // An odd factor: no two purposes of one seed begin alike.
        let mut mix = Self(seed ^ purpose.wrapping_mul(0xD134_2543_DE82_EF95));
        mix.next();
        mix
    }

    /// Returns the next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns 32 bytes.
    pub(crate) fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_exact_mut(8) {
            chunk.copy_from_slice(&self.next().to_be_bytes());
        }
        bytes
    }
}

/// Length of all connection IDs in bytes: what quinn, Chromium and others use.
pub(crate) const CONNECTION_ID: usize = 8;

/// Connection IDs of one end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionIds(pub(crate) Mix);

impl ConnectionIdGenerator for ConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.next().to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        CONNECTION_ID
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        // IDs never expire, so no timer changes a run.
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of SplitMix64 from 0, as its authors' code writes them.
    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut mix = Mix(0);
        let expected = [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F];
        assert_eq!([0; 3].map(|_| mix.next()), expected);
        // A stream begins with the second.
        assert_eq!(Mix::new(0, 0).next(), expected[1]);
        let bytes = Mix(0).bytes();
        assert_eq!(bytes[..16], [expected[0].to_be_bytes(), expected[1].to_be_bytes()].concat());
        assert_ne!(Mix::new(1, 1).next(), Mix::new(1, 2).next());
        let mut ids = ConnectionIds(Mix(0));
        assert_eq!((ids.generate_cid().len(), ids.cid_len(), ids.cid_lifetime()), (8, 8, None));
    }
}
