package push

import (
	"context"
	"log/slog"
	"time"

	"vayu/internal/sleep"
)

// followInterval is how often Follow looks for new readings.
const followInterval = 15 * time.Second

// Follow calls changed, the roll-up, after readings have arrived that no runner of this
// instance has stored, until ctx ends. Any instance may have stored them. recent returns a
// summary of the newest readings, which tells by After whether there are more than before.
func Follow[R interface{ After(last R) bool }](
	ctx context.Context, recent func(context.Context) (R, error), changed func(context.Context) error, log *slog.Logger,
) {
	var last R
	for sleep.For(ctx, followInterval) {
		found, err := recent(ctx)
		if err == nil && found.After(last) {
			err = changed(ctx)
		}
		switch {
		case err == nil:
			last = found
		case ctx.Err() == nil:
			log.WarnContext(ctx, "could not roll up pushed readings; retrying", "error", err)
		}
	}
}
