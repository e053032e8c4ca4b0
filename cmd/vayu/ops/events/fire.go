// Package events has the commands that fire test events and replay events.
package events

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"vayu/cmd/vayu/tool"
	"vayu/dispatch/outbox"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// NewEvents returns the command `vayu events`.
func NewEvents() *cobra.Command {
	cmd := &cobra.Command{Use: "events", Short: "Fire test events, and replay events that were not delivered"}
	cmd.AddCommand(newEventsFire(), newEventsReplay())
	return cmd
}

type fireOptions struct {
	account, typ, mode string
	count              int64   // 0 for any number
	rate               float64 // events per second; 0 for no limit
}

func newEventsFire() *cobra.Command {
	var v fireOptions
	cmd := &cobra.Command{
		Use:   "fire --count N --rate R",
		Short: "Commit test events",
		Long: `Commit test events of an account, each in a transaction of its own, beside a running
service or without one; webhooks receive them like other events. The data is the
documented example of the type with "test": true, and "n" counts from 1. Events begin at
their rate whether or not earlier ones are done. Without --mode they happen in the world
in which the account has webhooks for the type: live, when both or neither have.
At the end, also after Ctrl-C, it prints how many were committed, and where.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := v.check(); err != nil {
				return err
			}
			var t *eventCounts
			err := tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				to, commit, err := v.prepare(ctx, st)
				if err != nil {
					return err
				}
				t = &eventCounts{target: to}
				return v.fire(ctx, t, commit)
			})
			if t != nil || cmd.Context().Err() != nil {
				_, _ = fmt.Fprintln(cmd.OutOrStdout(), t)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&v.account, "account", tool.DefaultAccount, "name of the account")
	f.Int64Var(&v.count, "count", 1, "number of events; 0 for no limit until Ctrl-C")
	f.Float64Var(&v.rate, "rate", 0, "events per second; 0 for no limit")
	f.StringVar(&v.typ, "type", string(schema.EventPaymentSucceeded), "type of the events")
	f.StringVar(&v.mode, "mode", "", "world of the events: live, or sandbox (test does too; default: that of the webhooks)")
	return cmd
}

func (v fireOptions) check() error {
	if !slices.Contains(schema.EventTypes, schema.EventType(v.typ)) {
		return fmt.Errorf("--type: there is no type %q; there are %s", v.typ, schema.Join(schema.EventTypes, ", "))
	}
	switch {
	case v.count < 0:
		return errors.New("--count: must not be negative; 0 is for any number")
	case !(v.rate >= 0) || math.IsInf(v.rate, 0): // NaN is rejected too
		return errors.New("--rate: must be a number of events per second, or 0 for as fast as it goes")
	}
	_, err := v.world(audience{})
	return err
}

// prepare finds the account that the options name. It returns `target`, a text about the events and their webhooks, and
// `commit`, a function that commits event number n.
func (v fireOptions) prepare(ctx context.Context, st *tool.State) (target string, commit func(ctx context.Context, n int64) error, err error) {
	holder, err := tool.AccountByName(st.DB.View(ctx), v.account)
	if err != nil {
		return "", nil, err
	}
	found, err := v.audience(st.DB.View(ctx), holder.ID)
	if err != nil {
		return "", nil, err
	}
	world, err := v.world(found)
	if err != nil {
		return "", nil, err
	}
	events := outbox.New(outbox.Config{DB: st.DB, Log: st.Log})
	typ := schema.EventType(v.typ)
	data := schema.TestEventData(typ)
	return fmt.Sprintf("%s, %s; webhooks: %s", world, typ, found), func(ctx context.Context, n int64) error {
		return st.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			_, err := events.Append(tx, holder.ID, world, typ, numbered(data, n))
			return err
		})
	}, nil
}

// numbered returns a copy of a JSON object with an additional member "n", whose value is the given number.
func numbered(object json.RawMessage, n int64) json.RawMessage {
	out := append(bytes.TrimSuffix(slices.Clone(object), []byte("}")), `,"n":`...)
	return append(strconv.AppendInt(out, n, 10), '}')
}

// maxConcurrentCommits limits the commits in flight. On SQLite, at most this many share one transaction.
const maxConcurrentCommits = 256

// fire commits events until all are committed, ctx ends or a commit fails. It then waits for the commits in flight and
// returns the first error.
//
// Each event is due at a fixed time, which follows from its number and the rate. If slow commits have delayed events,
// fire commits the overdue events without pauses.
func (v fireOptions) fire(ctx context.Context, t *eventCounts, commit func(ctx context.Context, n int64) error) error {
	commits, running := errgroup.WithContext(ctx)
	commits.SetLimit(maxConcurrentCommits)
	began := time.Now()
	for n := int64(1); running.Err() == nil && (v.count == 0 || n <= v.count); n++ {
		if v.rate > 0 {
			due := time.Duration(float64(n-1) / v.rate * float64(time.Second))
			if !sleep.For(running, due-time.Since(began)) {
				break
			}
		}
		commits.Go(func() error { return t.observe(commit(running, n)) })
	}
	return commits.Wait()
}

type eventCounts struct {
	mu        sync.Mutex
	committed int64  // acknowledged by the store
	unknown   int64  // the store failed, so it is unknown whether these were committed
	target    string // world and type of the events, and numbers of webhooks
}

// observe counts the result of a commit. It returns the error of a failed commit. A canceled commit is not counted,
// and is no failure.
func (t *eventCounts) observe(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil:
		t.committed++
		return nil
	case errors.Is(err, context.Canceled):
		return nil
	}
	if problem, ok := errors.AsType[*schema.Problem](err); ok && problem.Code == schema.ServiceUnavailable {
		t.unknown++
	}
	return fmt.Errorf("committing an event: %w", err)
}

// String returns the summary that the command prints. A nil t means that nothing was committed.
func (t *eventCounts) String() string {
	if t == nil {
		return "committed 0 events"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	text := fmt.Sprintf("committed %d events", t.committed)
	if t.target != "" {
		text += " (" + t.target + ")"
	}
	if t.unknown > 0 {
		text += fmt.Sprintf("; the outcome of %d more is unknown, because the store failed", t.unknown)
	}
	return text
}
