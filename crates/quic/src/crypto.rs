//! A cryptographic session that protects nothing: a null cipher of true sizes.
//!
//! Messages of the handshake have TLS 1.3's form: a type, a length of three bytes, the body. Their sizes are
//! from RFC 8448's traces, section 3 (1-RTT) and section 4 (resumed 0-RTT); the certificate's size is a
//! setting. Bodies are zeros but for the transport parameters, which both ends read. Packets keep the tag of
//! 16 bytes that AES-128-GCM has (RFC 9001, section 5.3), filled with zeros, and headers stay in the clear.

use crate::random::Mix;
use bytes::{Bytes, BytesMut};
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey,
    KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// Tag of AEAD_AES_128_GCM in bytes.
pub(crate) const TAG: usize = 16;

/// Keys of packets that protect nothing.
#[derive(Clone, Copy, Debug)]
struct Null;

impl PacketKey for Null {
    fn encrypt(&self, _packet: u64, _buffer: &mut [u8], _header: usize) {}

    fn decrypt(&self, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        // A packet shorter than its tag was cut: refused, as a real cipher would.
        let size = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(size);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        // No limit, so no key update falls into a run (RFC 9001, section 6.6).
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Null {
    fn decrypt(&self, _number_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _number_offset: usize, _packet: &mut [u8]) {}

    /// RFC 9001, section 5.4.2: the sample is 16 bytes, and short packets are padded for it.
    fn sample_size(&self) -> usize {
        16
    }
}

impl AeadKey for Null {
    fn seal(&self, data: &mut Vec<u8>, _additional: &[u8]) -> Result<(), CryptoError> {
        data.extend([0; TAG]);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _additional: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let size = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..size])
    }
}

impl HandshakeTokenKey for Null {
    fn aead_from_hkdf(&self, _random: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

/// Returns keys of a packet number space.
fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Null), remote: Box::new(Null) },
        packet: KeyPair { local: Box::new(Null), remote: Box::new(Null) },
    }
}

/// The key of tokens that the server hands out.
pub(crate) fn token_key() -> Arc<dyn HandshakeTokenKey> {
    Arc::new(Null)
}

/// The key of stateless reset tokens: a hash that is no part of a threat model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResetKey(pub(crate) u64);

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        // FNV-1a.
        let folded = data.iter().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        let mut mix = Mix::new(self.0, folded);
        for chunk in signature.chunks_mut(8) {
            chunk.copy_from_slice(&mix.next().to_be_bytes()[..chunk.len()]);
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; signature.len()];
        self.sign(data, &mut expected);
        if expected == signature { Ok(()) } else { Err(CryptoError) }
    }
}

/// Messages of TLS 1.3's handshake (RFC 8446, section 4) by their type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
enum Message {
    ClientHello = 1,
    ServerHello = 2,
    NewSessionTicket = 4,
    EncryptedExtensions = 8,
    Certificate = 11,
    CertificateVerify = 15,
    Finished = 20,
}

impl Message {
    fn of(kind: u8) -> Option<Self> {
        [
            Self::ClientHello,
            Self::ServerHello,
            Self::NewSessionTicket,
            Self::EncryptedExtensions,
            Self::Certificate,
            Self::CertificateVerify,
            Self::Finished,
        ]
        .into_iter()
        .find(|message| *message as u8 == kind)
    }

    /// Size in RFC 8448, in bytes with the header of four; the certificate's is from section 3.
    const fn size(self, is_resumed: bool) -> usize {
        match self {
            Self::ClientHello => {
                if is_resumed {
                    512
                } else {
                    196
                }
            }
            Self::ServerHello => {
                if is_resumed {
                    96
                } else {
                    90
                }
            }
            Self::NewSessionTicket => 201,
            Self::EncryptedExtensions => {
                if is_resumed {
                    44
                } else {
                    40
                }
            }
            Self::Certificate => 445,
            Self::CertificateVerify => 136,
            Self::Finished => 36,
        }
    }

    /// Appends the message with `size` bytes beside `extension`, which the peer reads.
    fn write(self, size: usize, flag: u8, extension: &[u8], buffer: &mut Vec<u8>) {
        // The flag and the length of the extension have their place in the message; the extension comes on
        // top.
        let body = size.saturating_sub(4) + extension.len();
        buffer.push(self as u8);
        buffer.extend_from_slice(&(body as u32).to_be_bytes()[1..]);
        let end = buffer.len() + body;
        buffer.push(flag);
        buffer.extend_from_slice(&(extension.len() as u16).to_be_bytes());
        buffer.extend_from_slice(extension);
        buffer.resize(end, 0);
    }
}

/// Where a client keeps the server's transport parameters for resumption: its session ticket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tickets(Arc<Mutex<Option<Bytes>>>);

impl Tickets {
    /// Returns the parameters of the latest ticket.
    pub(crate) fn latest(&self) -> Option<Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, parameters: Bytes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(parameters);
    }
}

/// Settings of both ends' sessions.
#[derive(Clone, Debug)]
pub(crate) struct Handshakes {
    /// Size of the server's Certificate message in bytes.
    pub(crate) certificate: usize,
    /// A client with a ticket resumes and sends early data; a server accepts.
    pub(crate) zero_rtt: bool,
    /// The client's tickets.
    pub(crate) tickets: Tickets,
}

impl ClientConfig for Handshakes {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let ticket = self.zero_rtt.then(|| self.tickets.latest()).flatten();
        Ok(Box::new(TlsLike::new(self, Side::Client, parameters, ticket)))
    }
}

impl ServerConfig for Handshakes {
    fn initial_keys(&self, _version: u32, _destination: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _version: u32, _destination: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        // Never checked: this server sends no Retry.
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _version: u32, parameters: &TransportParameters) -> Box<dyn Session> {
        Box::new(TlsLike::new(self, Side::Server, parameters, None))
    }
}

fn violation(reason: &str) -> TransportError {
    TransportError { code: TransportErrorCode::PROTOCOL_VIOLATION, frame: None, reason: reason.to_owned() }
}

/// What a session does next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// Client: sends ClientHello.
    Hello,
    /// Waits for the peer's next flight.
    Waiting,
    /// Server: sends ServerHello; both: the handshake keys are ready.
    HandshakeKeys,
    /// Sends the rest of its flight; the 1-RTT keys are ready.
    ApplicationKeys,
    /// Server: sends the session ticket.
    Ticket,
}

/// One end's session.
struct TlsLike {
    config: Arc<Handshakes>,
    side: Side,
    /// This end's transport parameters.
    own: Vec<u8>,
    /// The peer's transport parameters, or the ticket's.
    peer: Option<Bytes>,
    /// Bytes of an unfinished message.
    unread: Vec<u8>,
    stage: Stage,
    is_handshaking: bool,
    /// Resumed with early data: offered by the client, accepted by the server.
    is_resumed: bool,
}

impl TlsLike {
    fn new(
        config: Arc<Handshakes>,
        side: Side,
        parameters: &TransportParameters,
        ticket: Option<Bytes>,
    ) -> Self {
        let mut own = Vec::new();
        parameters.write(&mut own);
        Self {
            config,
            side,
            own,
            is_resumed: ticket.is_some(),
            peer: ticket,
            unread: Vec::new(),
            stage: if side.is_client() { Stage::Hello } else { Stage::Waiting },
            is_handshaking: true,
        }
    }

    /// Takes one message of the peer.
    fn take(&mut self, message: Message, body: &[u8]) -> Result<(), TransportError> {
        let short = || violation("a handshake message is too short");
        let extension = || {
            let size = usize::from(u16::from_be_bytes([*body.get(1)?, *body.get(2)?]));
            body.get(3..3 + size).map(Bytes::copy_from_slice)
        };
        match (self.side, message) {
            (Side::Server, Message::ClientHello) => {
                self.is_resumed = body.first().is_some_and(|flag| *flag == 1) && self.config.zero_rtt;
                self.peer = Some(extension().ok_or_else(short)?);
                self.stage = Stage::HandshakeKeys;
            }
            (Side::Client, Message::ServerHello) => self.stage = Stage::HandshakeKeys,
            (Side::Client, Message::EncryptedExtensions) => {
                // A server that does not accept early data leaves its extension out (RFC 8446,
                // section 4.2.10).
                self.is_resumed &= body.first().is_some_and(|flag| *flag == 1);
                self.peer = Some(extension().ok_or_else(short)?);
            }
            (Side::Client, Message::Finished) => {
                self.stage = Stage::ApplicationKeys;
                self.is_handshaking = false;
            }
            (Side::Server, Message::Finished) => {
                self.stage = Stage::Ticket;
                self.is_handshaking = false;
            }
            (Side::Client, Message::NewSessionTicket) => {
                if let Some(parameters) = self.peer.clone() {
                    self.config.tickets.keep(parameters);
                }
            }
            (Side::Client, Message::Certificate | Message::CertificateVerify) => {}
            _ => return Err(violation("an unexpected handshake message")),
        }
        Ok(())
    }
}

impl Session for TlsLike {
    fn initial_keys(&self, _destination: &ConnectionId, _side: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let keys = || -> (Box<dyn HeaderKey>, Box<dyn PacketKey>) { (Box::new(Null), Box::new(Null)) };
        self.is_resumed.then(keys)
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.side.is_client().then_some(self.is_resumed)
    }

    fn is_handshaking(&self) -> bool {
        self.is_handshaking
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.unread.extend_from_slice(bytes);
        while let Some(&[kind, high, middle, low]) = self.unread.first_chunk() {
            let end = 4 + u32::from_be_bytes([0, high, middle, low]) as usize;
            if self.unread.len() < end {
                break;
            }
            let rest = self.unread.split_off(end);
            let message = std::mem::replace(&mut self.unread, rest);
            let kind = Message::of(kind).ok_or_else(|| violation("an unknown handshake message"))?;
            self.take(kind, &message[4..])?;
        }
        // False: no data for the application came of it (`handshake_data`).
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.peer
            .clone()
            .map(|mut bytes| TransportParameters::read(self.side, &mut bytes).map_err(Into::into))
            .transpose()
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        let is_resumed = self.is_resumed;
        let early = u8::from(is_resumed);
        // Each stage writes once; quinn calls until nothing is written.
        let stage = std::mem::replace(&mut self.stage, Stage::Waiting);
        match (self.side, stage) {
            (Side::Client, Stage::Hello) => {
                let size = Message::ClientHello.size(is_resumed);
                Message::ClientHello.write(size, early, &self.own, buffer);
                None
            }
            (Side::Client, Stage::HandshakeKeys) => Some(keys()),
            (Side::Client, Stage::ApplicationKeys) => {
                Message::Finished.write(Message::Finished.size(is_resumed), 0, &[], buffer);
                Some(keys())
            }
            (Side::Server, Stage::HandshakeKeys) => {
                Message::ServerHello.write(Message::ServerHello.size(is_resumed), 0, &[], buffer);
                self.stage = Stage::ApplicationKeys;
                Some(keys())
            }
            (Side::Server, Stage::ApplicationKeys) => {
                let size = Message::EncryptedExtensions.size(is_resumed);
                Message::EncryptedExtensions.write(size, early, &self.own, buffer);
                // A resumed session is authenticated by its key (RFC 8446, section 2.2): no certificate.
                if !is_resumed {
                    Message::Certificate.write(self.config.certificate, 0, &[], buffer);
                    Message::CertificateVerify.write(Message::CertificateVerify.size(false), 0, &[], buffer);
                }
                Message::Finished.write(Message::Finished.size(is_resumed), 0, &[], buffer);
                Some(keys())
            }
            (Side::Server, Stage::Ticket) => {
                let size = Message::NewSessionTicket.size(is_resumed);
                Message::NewSessionTicket.write(size, 0, &[], buffer);
                None
            }
            _ => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(KeyPair { local: Box::new(Null), remote: Box::new(Null) })
    }

    fn is_valid_retry(&self, _destination: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        output.fill(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signature is of its data and key, and of its length.
    #[test]
    fn a_reset_token_is_verified() {
        let key = ResetKey(5);
        let signed = |key: ResetKey, data: &[u8], size| {
            let mut signature = vec![0; size];
            key.sign(data, &mut signature);
            signature
        };
        let token = signed(key, b"id", 32);
        assert_eq!((token.len(), &signed(key, b"id", 13)[..]), (key.signature_len(), &token[..13]));
        assert!(key.verify(b"id", &token).is_ok() && key.verify(b"id", &token[..16]).is_ok());
        assert!(key.verify(b"ie", &token).is_err() && ResetKey(6).verify(b"id", &token).is_err());
        assert!(key.verify(b"id", &[0; 32]).is_err());
        // FNV-1a of 64 bits of "" and "a", by its authors' test vectors.
        for (data, hash) in [(&b""[..], 0xCBF2_9CE4_8422_2325), (b"a", 0xAF63_DC4C_8601_EC8C)] {
            assert_eq!(signed(key, data, 8), Mix::new(5, hash).next().to_be_bytes());
        }
    }

    /// A packet ends with its tag; what is shorter was cut. Tokens are sealed with one, too.
    #[test]
    fn a_tag_ends_a_packet() {
        for (size, left) in [(15, None), (16, Some(0)), (20, Some(4))] {
            let mut payload = BytesMut::from(&vec![7; size][..]);
            let opened = PacketKey::decrypt(&Null, 0, &[], &mut payload).ok().map(|()| payload.len());
            assert_eq!(opened, left);
            let mut data = vec![7; size];
            assert_eq!(Null.open(&mut data, &[]).ok().map(|data| data.len()), left);
        }
        let mut data = vec![1, 2];
        Null.seal(&mut data, &[]).unwrap();
        assert_eq!(
            (data.len(), Null.open(&mut data, &[]).map(|data| data.to_vec()).ok()),
            (18, Some(vec![1, 2]))
        );
        // RFC 9001, section 5.4.2; no limit ends a run (section 6.6).
        assert_eq!((Null.sample_size(), Null.tag_len()), (16, 16));
        assert_eq!((Null.confidentiality_limit(), Null.integrity_limit()), (u64::MAX, u64::MAX));
    }

    /// RFC 8448: the sizes of messages, with their header of type and length. A flag and an extension are read.
    #[test]
    fn messages_have_their_sizes() {
        let written = |message: Message, size, extension: &[u8]| {
            let mut bytes = Vec::new();
            message.write(size, 1, extension, &mut bytes);
            assert_eq!(u32::from_be_bytes([0, bytes[1], bytes[2], bytes[3]]) as usize, bytes.len() - 4);
            assert_eq!((Message::of(bytes[0]), bytes[4]), (Some(message), 1));
            bytes
        };
        for (message, sizes) in [
            (Message::ClientHello, [196, 512]),
            (Message::ServerHello, [90, 96]),
            (Message::NewSessionTicket, [201, 201]),
            (Message::EncryptedExtensions, [40, 44]),
            (Message::CertificateVerify, [136, 136]),
            (Message::Finished, [36, 36]),
        ] {
            assert_eq!([false, true].map(|is_resumed| message.size(is_resumed)), sizes);
            assert_eq!(written(message, sizes[0], &[]).len(), sizes[0]);
        }
        let bytes = written(Message::EncryptedExtensions, 40, &[9, 8, 7]);
        assert_eq!((bytes.len(), &bytes[5..10]), (43, &[0, 3, 9, 8, 7][..]));
        assert_eq!((Message::of(3), Message::Certificate.size(false)), (None, 445));
    }
}
