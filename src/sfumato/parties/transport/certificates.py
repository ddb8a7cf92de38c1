# SPDX-License-Identifier: MIT
"""The keys and certificates by which sites know each other: each makes its own, and hands out the certificate.

There is no certificate authority. Each site pins the certificates of the others: only exactly these are accepted,
whatever name is in them. So hand them over in a way that nobody can change them, or compare their fingerprints by
phone. The key never leaves its site; it is written with mode 0600, and refused if others can read it.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sfumato.data.reading.near_files import explain_unreadable
from sfumato.errors import DataError, PartyError
from sfumato.private.private_file import create_private, read_private, refuse_open_folder

DAYS = 365


@dataclass(frozen=True, slots=True)
class Identity:
    """The files of a new identity."""

    key: Path
    certificate: Path
    fingerprint: str
    """SHA-256 of the certificate, to compare by phone."""


@dataclass(frozen=True, slots=True)
class PinnedCertificate:
    """A certificate that a site accepts."""

    der: bytes
    pem: str


def make_identity(name: str, folder: Path, days: int = DAYS, start: datetime | None = None) -> Identity:
    """Make a key and a certificate for a site; never over existing files."""
    key_path, certificate_path = folder / f"{name}.key", folder / f"{name}.crt"
    for path in (key_path, certificate_path):
        if path.exists():
            raise DataError(f"{path}: this file exists; move it away if the other sites are to get a new certificate")
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _sign_certificate(name, key, start or datetime.now(UTC), days)
    refuse_open_folder(key_path, "the key")
    content = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    create_private(key_path, content)
    certificate_path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return Identity(key_path, certificate_path, certificate.fingerprint(hashes.SHA256()).hex(":"))


def _sign_certificate(name: str, key: ec.EllipticCurvePrivateKey, start: datetime, days: int) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    uses = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start - timedelta(hours=1))  # clocks differ
        .not_valid_after(start + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(uses, critical=False)
        .sign(key, hashes.SHA256())
    )


def read_site_certificate(site: str, path: Path) -> PinnedCertificate:
    """The certificate of a site, after a check that it is one and has not expired."""
    try:
        certificate = x509.load_pem_x509_certificate(path.read_bytes())
    except OSError as error:
        raise DataError(
            f'{path}: the certificate of site "{site}", which `sfumato party init` made there, cannot be read '
            f"{explain_unreadable(error, path)}"
        ) from None
    except ValueError:
        raise DataError(f'{path}: this is not a certificate, which site "{site}" is to be known by') from None
    expires = certificate.not_valid_after_utc
    if not certificate.not_valid_before_utc <= datetime.now(UTC) <= expires:
        raise PartyError(
            f'{path}: the certificate of site "{site}" is valid from {certificate.not_valid_before_utc:%Y-%m-%d} to '
            f"{expires:%Y-%m-%d}, not today; make a new one there with `sfumato party init` and give it to every site"
        )
    text = certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")
    return PinnedCertificate(certificate.public_bytes(serialization.Encoding.DER), text)


def make_context(
    own_certificate: Path, key: Path, pinned_certificates: list[PinnedCertificate], is_server: bool
) -> ssl.SSLContext:
    """TLS 1.3, with this site's key, that accepts the pinned certificates and no others."""
    _refuse_open_key(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # the certificate itself is compared, which is stricter
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata="".join(certificate.pem for certificate in pinned_certificates))
    if is_server:
        context.num_tickets = 0  # every session proves its key anew
    try:
        context.load_cert_chain(own_certificate, key)
    except (ssl.SSLError, OSError):
        raise DataError(f"{key}: this is not the key of the certificate {own_certificate}") from None
    return context


def _refuse_open_key(key: Path) -> None:
    """Refuse a key that others can read, or that is not there."""
    try:
        read_private(key, "the key")
    except OSError as error:
        raise DataError(
            f"{key}: the key of this site, which `sfumato party init` made, cannot be read "
            f"{explain_unreadable(error, key)}"
        ) from None
