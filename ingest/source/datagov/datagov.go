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

// Source is the portal's resource. It has no history and ignores the window.
type Source struct {
	name   string
	config Config
	clock  func() time.Time
	client *fetch.Client
}

// Fetch reads pages until it has read as many records as the portal states. The order of records is unstable, so a page
// may repeat a record and omit another one. If records are missing, Fetch reads the pages in a second pass. Records
// that are then still missing count as [ingest.NotListed]. If a page of the first pass fails, Fetch yields nothing.
func (s *Source) Fetch(ctx context.Context, _ ingest.Window, yield func(*ingest.Batch) error) error {
	records := newListing()
	if err := s.fetchPages(ctx, records); err != nil {
		return err
	}
	if records.missing() > 0 {
		records.beginSecondPass()
		if err := s.fetchPagesAgain(ctx, records); err != nil {
			return err
		}
	}
	b := ingest.NewBuilder(s.name, s.clock(), yield)
	if err := records.add(b); err != nil {
		b.Discard()
		return err
	}
	return b.Close()
}

// fetchPages makes one pass: it reads pages in order until [listing.addPage] needs no further page.
func (s *Source) fetchPages(ctx context.Context, records *listing) error {
	for page := range s.config.MaxPages {
		reply, err := s.client.Get(ctx, s.pageURL(records.read), fetch.Validators{})
		if err != nil {
			return fmt.Errorf("fetching data.gov.in from record %d: %w", records.read, err)
		}
		body := bytes.ReplaceAll(reply.Body, []byte(s.config.Key.Reveal()), []byte("***")) // an error page may quote the key
		if page == 0 {
			noteFields(ingest.RecorderOf(ctx), body)
		}
		done, err := records.addPage(body)
		if err != nil {
			return fmt.Errorf("reading page %d of data.gov.in: %w", page+1, err)
		}
		if done {
			return nil
		}
	}
	return ingest.BadReplyf("data.gov.in: the list has more than %d pages", s.config.MaxPages)
}

// fetchPagesAgain makes the second pass. If a page fails, Fetch uses the records read so far. The pass may take half of
// the time until the deadline of ctx; the rest is for storing. fetchPagesAgain fails only if ctx has ended.
func (s *Source) fetchPagesAgain(ctx context.Context, records *listing) error {
	limited := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	if err := s.fetchPages(limited, records); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// pageURL returns the URL of the page that starts at a record. The URL contains the key, so it must not be logged.
func (s *Source) pageURL(offset int) string {
	q := url.Values{
		"api-key": {s.config.Key.Reveal()}, "format": {"json"},
		"limit": {strconv.Itoa(s.config.Limit)}, "offset": {strconv.Itoa(offset)},
	}
	return s.config.URL + "?" + q.Encode()
}
