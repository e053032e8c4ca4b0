// Package lead lets one instance of several do what only one may do at a time.
package lead

import (
	"context"
	"log/slog"

	"vayu/internal/state"
)

// Config says what is led, and where instances agree on it.
type Config struct {
	DB   *state.DB
	Name string // of what is done, such as "outbox"
	Log  *slog.Logger
}

// Run calls do whenever this instance is the one, until ctx ends. The context of
// do ends when the instance can no longer be sure that it is. An error of do ends
// Run.
//
// On SQLite one process serves, so it leads at once and writes nothing.
func Run(ctx context.Context, c Config, do func(ctx context.Context) error) error {
	panic("not written yet")
}
