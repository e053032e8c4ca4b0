package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// inFlight is how many batches may wait between parsing and storing: with one
// more on each side that is four batches, about 16 MB, and both cores are busy.
const inFlight = 2

// Store keeps batches.
type Store interface {
	// Load stores a batch and returns nil once it is safe. It may be called
	// again with the same batch after an error, and storing a batch twice
	// changes nothing. It may add to b.Rejected when it succeeds, and it does
	// not release the batch.
	Load(ctx context.Context, b *Batch) error
}

// PanicError is a panic of a source, kept inside.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error. It leaves the stack to the log.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// StoreError is a batch that could not be stored; the source is not to blame.
type StoreError struct{ Err error }

// Error implements error.
func (e *StoreError) Error() string { return "storing a batch: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// transfer fetches a window and stores its batches in order, parsing the next
// while the last one is being stored. stored is called after each batch that
// the store has acknowledged, from one goroutine at a time, before the batch is
// released. On return nothing is running any more. After an error left holds,
// in order, the batches that the source was rid of and the store did not take;
// they are the caller's.
func transfer(ctx context.Context, src Source, w Window, load, stored func(context.Context, *Batch) error) (left []*Batch, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan *Batch, inFlight)
	done := make(chan error, 1)
	go func() {
		var err error
		for b := range batches {
			if err == nil {
				err = storeOne(ctx, b, load, stored)
			}
			if err == nil {
				b.Release()
				continue
			}
			left = append(left, b)
			cancel(err) // ends the fetch
		}
		done <- err
	}()
	fetchErr := guard(func() error {
		return src.Fetch(ctx, w, func(b *Batch) error {
			select {
			case batches <- b:
				return nil
			case <-ctx.Done():
				b.Release()
				return context.Cause(ctx)
			}
		})
	})
	close(batches)
	if storeErr := <-done; storeErr != nil {
		return left, storeErr // it came first, and what the fetch says follows from it
	}
	return nil, fetchErr
}

func storeOne(ctx context.Context, b *Batch, load, stored func(context.Context, *Batch) error) error {
	return guard(func() error {
		if err := load(ctx, b); err != nil {
			return &StoreError{err}
		}
		return stored(ctx, b)
	})
}

// guard turns a panic of work into an error.
func guard(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return work()
}

// storePatience is how long a batch waits for a store that fails before the
// fetch is given up and repeated later: 1+2+4+8+16 s, longer than the engine
// takes to restart.
var storePatience = [...]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// patiently returns a load that tries again while the store fails, and calls
// failed for each failure.
func patiently(store Store, failed func(error)) func(context.Context, *Batch) error {
	return func(ctx context.Context, b *Batch) error {
		for try := 0; ; try++ {
			err := store.Load(ctx, b)
			if err == nil || ctx.Err() != nil {
				return err
			}
			failed(err)
			if try == len(storePatience) {
				return err
			}
			if sleepErr := sleep(ctx, storePatience[try]); sleepErr != nil {
				return errors.Join(err, sleepErr)
			}
		}
	}
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
