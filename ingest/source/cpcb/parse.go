package cpcb

import (
	"io"

	"vayu/ingest"
	"vayu/ingest/network"
)

// Parse reads one reply of the feed (see [network.ParseFeed]; a saved reply is
// also read by the source for files).
func Parse(r io.Reader, b *ingest.Builder) error { return network.ParseFeed(r, b) }
