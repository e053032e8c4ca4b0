package datagov

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"vayu/ingest"
	"vayu/ingest/fetch"
)

// Source is the portal's resource. It only has the present, so it ignores the
// window's beginning.
type Source struct {
	name   string
	config Config
	clock  func() time.Time
	client *fetch.Client
}

// Fetch implements [ingest.Source]. It asks for pages until it has as many
// records as the portal says there are. Nothing is yielded when a page fails.
func (s *Source) Fetch(ctx context.Context, _ ingest.Window, yield func(*ingest.Batch) error) error {
	records := newListing()
	for page := 0; ; page++ {
		if page == s.config.MaxPages {
			return refuse(fmt.Sprintf("data.gov.in: the listing goes on after %d pages", page))
		}
		reply, err := s.client.Get(ctx, s.page(records.read), fetch.Stamp{})
		if err != nil {
			return fmt.Errorf("fetching data.gov.in from record %d: %w", records.read, err)
		}
		done, err := records.page(bytes.ReplaceAll(reply.Body, []byte(s.config.Key.Reveal()), []byte("***"))) // a refusal may quote the key
		if err != nil {
			return fmt.Errorf("reading data.gov.in: %w", err)
		}
		if done {
			break
		}
	}
	b := ingest.NewBuilder(s.name, s.clock(), yield)
	if err := records.add(b); err != nil {
		b.Discard()
		return err
	}
	return b.Close()
}

// page is the address of the page from a record on. It holds the key: never
// show it.
func (s *Source) page(offset int) string {
	q := url.Values{
		"api-key": {s.config.Key.Reveal()}, "format": {"json"},
		"limit": {strconv.Itoa(s.config.Limit)}, "offset": {strconv.Itoa(offset)},
	}
	return s.config.URL + "?" + q.Encode()
}

func refuse(detail string) error { return &ingest.BatchError{Reason: ingest.BadReply, Detail: detail} }
