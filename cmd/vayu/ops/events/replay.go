package events

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/dispatch/outbox"
	"vayu/internal/sleep"
	"vayu/schema"
)

// replayMinAge is the default minimum age of replayed events. Younger events may still be in normal delivery.
const replayMinAge = time.Minute

const progressInterval = 2 * time.Second

type replayOptions struct {
	from, to     string
	account, typ string
	tests, dry   bool
	rate         float64 // events per second; 0 for no limit
}

func newEventsReplay() *cobra.Command {
	var r replayOptions
	cmd := &cobra.Command{
		Use:   "replay --from TIME",
		Short: "Replay events with missing deliveries",
		Long: `Replay events that lack a delivery: after Kafka has lost its topic, after the offset of
the consumer group was moved ahead, or after dispatchers were restored from a backup. The events
come from the state store, not from Kafka. They pass the outbox, Kafka if configured, and the
dispatcher again.

A delivery is missing if a webhook that subscribes to the type, and is older than the event,
has no delivery of it. Limits of a replay:
  - It sends no event twice. An existing delivery is unchanged, whether delivered, failed,
    cancelled or waiting. A replay can be repeated and interrupted, beside a running service.
  - It does not retry failed deliveries. POST /v1/deliveries/retry does.
  - It does not keep the order. Replayed events arrive after those delivered meanwhile.
A replayed event goes to every webhook that is older than it, now subscribes to its type, and has
no delivery of it. A webhook that was changed to subscribe to a type also gets earlier events.
Test events (those of POST /v1/webhooks/{id}/test and of events fire) are left out, unless --tests.

TIME is 2026-11-20T10:00:00Z, a day of India such as 2026-11-20, or 90m or 12h ago; 29 days at
most. Begin with --dry-run, which counts and changes nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			request, err := r.check(time.Now())
			if err != nil {
				return err
			}
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				return r.run(ctx, st, request, cmd.OutOrStdout(), cmd.ErrOrStderr())
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.from, "from", "", "first time of the events (required)")
	f.StringVar(&r.to, "to", "", "time before which they happened (default: a minute ago; younger ones are on their way)")
	f.StringVar(&r.account, "account", "", "name of the account (default: all)")
	f.StringVar(&r.typ, "type", "", "type of the events (default: all)")
	f.BoolVar(&r.tests, "tests", false, "test events, too")
	f.BoolVar(&r.dry, "dry-run", false, "count only")
	f.Float64Var(&r.rate, "rate", 500, "events replayed per second, because they precede new ones; 0 for no limit")
	return cmd
}

// check validates the flags and converts them to a request.
func (r replayOptions) check(now time.Time) (request outbox.Replay, err error) {
	request = outbox.Replay{Type: schema.EventType(r.typ), Tests: r.tests, DryRun: r.dry, To: now.Add(-replayMinAge)}
	if r.from == "" {
		return request, errors.New("--from: set the first time, such as 2026-11-20T10:00:00Z, 2026-11-20 or 12h")
	}
	if request.From, err = parseTime(r.from, now); err != nil {
		return request, fmt.Errorf("--from: %w", err)
	}
	if r.to != "" {
		if request.To, err = parseTime(r.to, now); err != nil {
			return request, fmt.Errorf("--to: %w", err)
		}
	}
	switch {
	case !request.From.Before(request.To):
		return request, errors.New("--from: must be before --to, which is a minute ago by default")
	case r.typ != "" && !slices.Contains(schema.EventTypes, request.Type):
		return request, fireOptions{typ: r.typ}.check()
	case !(r.rate >= 0):
		return request, errors.New("--rate: must be a number of events per second, or 0 for no limit")
	}
	return request, nil
}

// parseTime parses a time in RFC 3339, a day (its start in India), or a duration before now such as 12h.
func parseTime(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, schema.India); err == nil {
		return day, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-11-20T10:00:00Z, 2026-11-20 or 12h", text)
}

// run replays the events of one account, or of all accounts if --account is not set. It writes progress messages to
// `progress`. At the end, even after an interruption, it writes the summary to `out`.
func (r replayOptions) run(ctx context.Context, st *tool.State, request outbox.Replay, out, progress io.Writer) error {
	if r.account != "" {
		holder, err := tool.AccountByName(st.DB.View(ctx), r.account)
		if err != nil {
			return err
		}
		request.Account = holder.ID
	}
	events := outbox.New(outbox.Config{DB: st.DB, Log: st.Log})
	began := time.Now()
	reported := began
	done, err := events.Replay(ctx, request, func(sofar outbox.Replayed) error {
		if now := time.Now(); now.Sub(reported) >= progressInterval {
			reported = now
			_, _ = fmt.Fprintf(progress, "%s: looked at %d events, %d lack a delivery\n", sofar.Until.UTC().Format(time.RFC3339), sofar.Scanned, sofar.Missing)
		}
		if r.rate > 0 && sofar.Queued > 0 && sofar.Until.Before(request.To) {
			sleep.For(ctx, time.Duration(float64(sofar.Queued)/r.rate*float64(time.Second))-time.Since(began))
		}
		return ctx.Err()
	})
	if errors.Is(err, outbox.ErrReach) {
		return fmt.Errorf("--from: %w", err)
	}
	_, _ = fmt.Fprintln(out, r.summary(request, done))
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; run the same command again to replay the rest")
	}
	return err
}

func (r replayOptions) summary(request outbox.Replay, done outbox.Replayed) string {
	text := fmt.Sprintf("looked at %d events from %s to %s: %d lack a delivery", done.Scanned,
		request.From.UTC().Format(time.RFC3339), done.Until.UTC().Format(time.RFC3339), done.Missing)
	if r.dry {
		text += "; nothing was changed (--dry-run)"
	} else {
		text += fmt.Sprintf(", %d are replayed", done.Queued)
		if waiting := done.Missing - done.Queued; waiting > 0 {
			text += fmt.Sprintf(", %d waited for the relay already", waiting)
		}
	}
	if done.Tests > 0 {
		text += fmt.Sprintf("; left out %d test events (--tests replays them, too)", done.Tests)
	}
	return text
}
