//! A bulk transfer by quinn with rustls over real UDP sockets: `quinn-bench server`, and `quinn-bench client`, which
//! prints the goodput that the server measured. `run.py` plays both over an emulated link.
//!
//! Datagrams have 1452 B of UDP payload, without discovery of the MTU and without segmentation offload, as cogtcp's.

use quinn::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::rustls;
use quinn::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig};
use std::env::{args, var};
use std::error::Error;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PORT: u16 = 4433;
/// UDP payload of a full packet.
const DATAGRAM: u16 = 1452;

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match given.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", control, warmup, duration] => {
            runtime.block_on(server(control, seconds(warmup)?, seconds(duration)?))
        }
        ["client", control, duration] => runtime.block_on(client(control, seconds(duration)?)),
        _ => Err("usage: quinn-bench server CONTROL WARMUP_S DURATION_S | client CONTROL DURATION_S".into()),
    }
}

fn seconds(text: &str) -> Result<Duration, Box<dyn Error>> {
    Ok(Duration::from_secs_f64(text.parse()?))
}

fn transport(control: &str) -> Result<Arc<TransportConfig>, Box<dyn Error>> {
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match control {
        "cubic" => Arc::new(CubicConfig::default()),
        "newreno" => Arc::new(NewRenoConfig::default()),
        _ => return Err(format!("no control {control}: write cubic or newreno").into()),
    };
    let mut config = TransportConfig::default();
    config
        .initial_mtu(DATAGRAM)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .stream_receive_window((16_u32 << 20).into())
        .receive_window((16_u32 << 20).into())
        .send_window(16 << 20)
        .congestion_controller_factory(factory);
    Ok(Arc::new(config))
}

fn endpoint(at: SocketAddr, server: Option<ServerConfig>) -> Result<Endpoint, Box<dyn Error>> {
    let socket = UdpSocket::bind(at)?;
    Ok(Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(TokioRuntime))?)
}

/// Receives one stream, and answers with the bytes that arrived between `warmup` and `duration` after the first.
async fn server(control: &str, warmup: Duration, duration: Duration) -> Result<(), Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(vec!["bench".to_owned()])?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let mut config = ServerConfig::with_single_cert(vec![made.cert.der().clone()], key)?;
    config.transport_config(transport(control)?);
    let endpoint = endpoint(SocketAddr::new(IpAddr::from([0, 0, 0, 0]), PORT), Some(config))?;
    let connection = endpoint.accept().await.ok_or("no connection")?.await?;
    let (mut answer, mut data) = connection.accept_bi().await?;
    let (mut began, mut bytes) = (None, 0_u64);
    while let Some(chunk) = data.read_chunk(1 << 20, true).await? {
        let since = began.get_or_insert_with(Instant::now).elapsed();
        if since >= warmup && since < duration {
            bytes += chunk.bytes.len() as u64;
        }
    }
    answer.write_all(&bytes.to_be_bytes()).await?;
    answer.finish()?;
    connection.closed().await;
    Ok(())
}

/// Sends for `duration`, and prints the count that the server answers.
async fn client(control: &str, duration: Duration) -> Result<(), Box<dyn Error>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        .with_no_client_auth();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport(control)?);
    let mut endpoint = endpoint(SocketAddr::new(IpAddr::from([0, 0, 0, 0]), 0), None)?;
    endpoint.set_default_client_config(config);
    let server = SocketAddr::new(var("COGTCP_PEER")?.parse()?, PORT);
    let connection = endpoint.connect(server, "bench")?.await?;
    let (mut data, mut answer) = connection.open_bi().await?;
    let began = Instant::now();
    let block = vec![0; 1 << 14];
    while began.elapsed() < duration {
        data.write_all(&block).await?;
    }
    data.finish()?;
    let bytes = answer.read_to_end(8).await?;
    let stats = connection.stats().path;
    println!(
        "{{\"bytes\": {}, \"lost_packets\": {}, \"congestion_events\": {}, \"datagram\": {}}}",
        u64::from_be_bytes(bytes.as_slice().try_into()?),
        stats.lost_packets,
        stats.congestion_events,
        stats.current_mtu,
    );
    connection.close(0_u32.into(), b"done");
    endpoint.wait_idle().await;
    Ok(())
}

/// Takes every certificate: the link is emulated, and the peer is this program.
#[derive(Debug)]
struct Anybody(Arc<rustls::crypto::CryptoProvider>);

type Verified = rustls::client::danger::HandshakeSignatureValid;

impl rustls::client::danger::ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end: &CertificateDer<'_>,
        _between: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<Verified, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<Verified, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
