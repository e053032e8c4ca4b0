"""Client of Vayu's API. The module contract has the types of replies and bodies."""

from .client import POSTS_WITHOUT_KEY, Vayu
from .errors import ProblemError, SignatureError, TimeoutError, TransportError, VayuError
from .frames import to_pandas, to_polars
from .live import Message
from .signature import verify_webhook

__all__ = [
    "POSTS_WITHOUT_KEY",
    "Message",
    "ProblemError",
    "SignatureError",
    "TimeoutError",
    "TransportError",
    "Vayu",
    "VayuError",
    "to_pandas",
    "to_polars",
    "verify_webhook",
]
