package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"vayu/ingest"
)

// Opener builds the source under test for a case. The source reads from c.URL or c.Path, uses c.Clock as its clock, and
// has [Key] as its API key.
type Opener func(c *Case) (ingest.Source, error)

// Fault is a difference between the expected and the actual behaviour of a source.
type Fault struct {
	// Part is the failed step of the check. "result" compares a fetch with the expected result. "again" is a second
	// fetch. "cancelled" is a fetch with an ended context. In "refused", the function `yield` returns an error.
	Part string
	Text string
}

// checking is the state of the check of a case.
type checking struct {
	c      *Case
	server *server // nil for a source that reads files
	open   Opener
	faults []Fault
}

func (k *checking) faultf(part, format string, args ...any) {
	k.faults = append(k.faults, Fault{part, fmt.Sprintf(format, args...)})
}

// restart makes the server begin again with the first reply. It moves the server's faults to k.faults, for `part`.
func (k *checking) restart(part string) {
	if k.server == nil {
		return
	}
	k.server.restart()
	for _, text := range k.server.takeFaults() {
		k.faultf(part, "%s", text)
	}
}

// Check checks that the source returns the readings, rejections and error of the case, and that it meets the contract
// of [ingest.Source]. It returns the faults of the source. The error means that the check itself failed.
func (c *Case) Check(ctx context.Context, open Opener) ([]Fault, error) {
	k := &checking{c: c, open: open}
	if len(c.Replies) == 0 {
		return k.faults, k.run(ctx)
	}
	k.server = &server{c: c}
	var err error
	served := Serve(ctx, k.server, func(address string) {
		c.URL = address + "/feed"
		err = k.run(ctx)
	})
	return k.faults, errors.Join(err, served)
}

func (k *checking) run(ctx context.Context) error {
	src, err := k.open(k.c)
	if err != nil {
		if fault := k.c.mismatch(err); fault != "" {
			k.faultf("result", "%s", fault)
		}
		return nil
	}
	got, err := Fetch(ctx, src, k.c.Window(), k.c.Now)
	k.restart("result")
	if fault := k.c.mismatch(err); fault != "" {
		k.faultf("result", "%s", fault)
		return nil
	}
	if err != nil && len(got.Readings) > 0 {
		k.faultf("result", "a rejected batch yielded %d readings", len(got.Readings))
	}
	if failed := k.compare(got); failed != nil || err != nil {
		return failed
	}
	k.fetchAgain(ctx, src, got)
	k.fetchCancelled(ctx)
	if got.Batches > 0 {
		k.fetchRefused(ctx)
	}
	return nil
}

// compare compares the fetched data with the files of the case.
func (k *checking) compare(got *Fetched) error {
	for _, text := range got.Faults {
		k.faultf("result", "%s", text)
	}
	for _, file := range []struct {
		name, text string
		required   bool
	}{
		{readingsFile, got.readingText(), true}, {missingFile, lines(got.Missing), false}, {bulletinsFile, lines(got.Bulletins), len(got.Bulletins) > 0},
		{rejectedFile, got.rejectedText(), false}, {stationsFile, got.stationText(), false},
	} {
		want, exists, err := k.c.expected(file.name)
		if err != nil {
			return err
		}
		if diff := difference(want, file.text); diff != "" && (exists || file.required) {
			k.faultf("result", "%s differs (- expected, + fetched):\n%s", file.name, diff)
		}
	}
	if !maps.Equal(k.c.Rejected, got.Rejected) {
		k.faultf("result", "rejected %v, want %v", got.Rejected, k.c.Rejected)
	}
	return nil
}

// fetchAgain checks that a second fetch yields the same readings. A source that detects unchanged data may yield none.
func (k *checking) fetchAgain(ctx context.Context, src ingest.Source, first *Fetched) {
	second, err := Fetch(ctx, src, k.c.Window(), k.c.Now)
	k.restart("again")
	if err != nil {
		k.faultf("again", "the second fetch: %v", err)
		return
	}
	if len(second.Readings) == 0 {
		return
	}
	if diff := difference(first.readingText(), second.readingText()); diff != "" {
		k.faultf("again", "the second fetch differs (- first, + second):\n%s", diff)
	}
}

// fetchCancelled checks that a fetch with an ended context returns the context's error.
func (k *checking) fetchCancelled(ctx context.Context) {
	src, err := k.open(k.c)
	if err != nil {
		k.faultf("cancelled", "%v", err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Fetch(ctx, src, k.c.Window(), k.c.Now)
	k.restart("cancelled")
	if !errors.Is(err, context.Canceled) {
		k.faultf("cancelled", "error %v after the context ended, want its error", err)
	}
}

// errRefused is the error of a store that cannot store a batch.
var errRefused = errors.New("the store is down")

// fetchRefused fetches twice with a function `yield` that returns an error. It checks that each fetch calls `yield`
// once, and returns its error. The second fetch must therefore yield the refused batch again.
func (k *checking) fetchRefused(ctx context.Context) {
	src, err := k.open(k.c)
	if err != nil {
		k.faultf("refused", "%v", err)
		return
	}
	for range 2 {
		calls := 0
		err := src.Fetch(ctx, k.c.Window(), func(b *ingest.Batch) error {
			calls++
			b.Release()
			return errRefused
		})
		k.restart("refused")
		if calls != 1 {
			k.faultf("refused", "yield was called %d times, want once", calls)
		}
		if !errors.Is(err, errRefused) {
			k.faultf("refused", "Fetch returned %v, want %v", err, errRefused)
		}
	}
}
