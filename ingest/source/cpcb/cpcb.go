package cpcb

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/fetch"
)

// Source is CPCB's live feed. The feed has no history, so Fetch ignores the window.
type Source struct {
	name   string
	url    string
	clock  func() time.Time
	client *fetch.Client
	stamp  fetch.Validators // ETag and Last-Modified of the last feed whose readings were accepted
}

// Fetch yields the readings of the feed, or nothing if the feed is unchanged.
func (s *Source) Fetch(ctx context.Context, _ ingest.Window, yield func(*ingest.Batch) error) error {
	reply, err := s.client.Get(ctx, s.url, s.stamp)
	if err != nil {
		return fmt.Errorf("fetching CPCB's feed: %w", err)
	}
	if reply.Body == nil {
		return nil
	}
	b := ingest.NewBuilder(s.name, s.clock(), yield)
	b.Observe(ctx)
	if err := cpcbformat.ParseFeed(bytes.NewReader(reply.Body), b); err != nil {
		b.Discard()
		return fmt.Errorf("reading CPCB's feed: %w", err)
	}
	if err := b.Close(); err != nil {
		return err
	}
	s.stamp = reply.Validators
	return nil
}
