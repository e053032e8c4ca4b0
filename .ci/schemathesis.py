"""Hooks of .ci/schemathesis: bodies of these types are texts, and are sent as they are."""

import schemathesis

schemathesis.serializer.alias(["application/x-ndjson", "text/csv"], "text/plain")
