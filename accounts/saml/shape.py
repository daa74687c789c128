"""The only shape of a response in which the library's reading, the signature's and ours must be the same."""

from typing import Final

from accounts.saml.refusals import Reason, Refused
from accounts.saml.xml import Element, children, named, only

_MORE: Final = "http://www.w3.org/2001/04/xmldsig-more#"
RSA: Final = {f"{_MORE}rsa-sha{bits}" for bits in (256, 384, 512)}
"""How a provider may sign: what the library accepts besides can be forged, or is a secret that everybody knows."""
_METHODS: Final = RSA | {f"{_MORE}ecdsa-sha{bits}" for bits in (256, 384, 512)}
_XMLENC: Final = "http://www.w3.org/2001/04/xmlenc#"
_DIGESTS: Final = {f"{_XMLENC}sha256", f"{_MORE}sha384", f"{_XMLENC}sha512"}
_TRANSFORMS: Final = {
    "http://www.w3.org/2000/09/xmldsig#enveloped-signature",
    "http://www.w3.org/2001/10/xml-exc-c14n#",
}


def refuse_encrypted(response: Element) -> None:
    """Raises Refused if anything in it is: the library decrypts before a signature was checked, so that whoever has an
    answer could try changed ones until it is open."""
    for what in ("Assertion", "ID", "Attribute"):
        if children(response, f".//saml:Encrypted{what}"):
            raise Refused(Reason.ENCRYPTED, f"Encrypted{what}")


def assertion_of(response: Element) -> Element:
    """Its one assertion. Raises Refused for every other shape than: a Response, in it one Assertion; a signature is a
    child of one of them, covers exactly its parent, and changes nothing but itself."""
    if response.tag != named("samlp:Response"):
        raise Refused(Reason.SHAPE, "not a response")
    assertion = only(response, ".//saml:Assertion", Reason.SHAPE)
    if assertion.getparent() is not response:
        raise Refused(Reason.SHAPE, "the assertion is not the response's child")
    ids = response.xpath("//@*[translate(local-name(), 'id', 'ID') = 'ID']")
    if len(ids) != len(set(ids)):
        raise Refused(Reason.SHAPE, "an ID twice")
    _check_signatures(response, assertion)
    return assertion


def _check_signatures(response: Element, assertion: Element) -> None:
    signatures = children(response, ".//ds:Signature")
    if not signatures:
        raise Refused(Reason.SIGNATURE_SHAPE, "no signature")
    for parent in (response, assertion):
        if len(children(parent, "ds:Signature")) > 1:
            raise Refused(Reason.SIGNATURE_SHAPE, "two signatures of one element")
    for signature in signatures:
        parent = signature.getparent()
        if parent is not response and parent is not assertion:
            raise Refused(Reason.SIGNATURE_SHAPE, "a signature in another place")
        _check_reference(signature, parent)


def _check_reference(signature: Element, parent: Element) -> None:
    info = only(signature, "ds:SignedInfo", Reason.SIGNATURE_SHAPE)
    reference = only(info, "ds:Reference", Reason.SIGNATURE_SHAPE)
    if not parent.get("ID") or reference.get("URI") != f"#{parent.get('ID')}":
        raise Refused(Reason.SIGNATURE_SHAPE, "it does not cover its parent")
    transforms = _algorithms(reference, "ds:Transforms/ds:Transform")
    if not transforms <= _TRANSFORMS:
        raise Refused(Reason.SIGNATURE_SHAPE, "a transform that changes more than the signature")
    if children(signature, "ds:Object"):
        raise Refused(Reason.SIGNATURE_SHAPE, "an object in the signature")
    methods, digests = _algorithms(info, "ds:SignatureMethod"), _algorithms(reference, "ds:DigestMethod")
    if not (methods <= _METHODS and digests <= _DIGESTS):
        raise Refused(Reason.SIGNATURE_SHAPE, "another algorithm than SHA-256, SHA-384 or SHA-512 with RSA or ECDSA")


def _algorithms(parent: Element, path: str) -> set[str]:
    return {each.get("Algorithm", "") for each in children(parent, path)}
