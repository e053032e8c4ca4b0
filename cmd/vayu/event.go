package main

import (
	"log/slog"

	"vayu/internal/state"
	"vayu/schema"
)

// eventLog tells the operator of events in the log.
type eventLog struct{ log *slog.Logger }

// Append implements account.Events.
func (e eventLog) Append(_ *state.Tx, account string, world schema.World, event schema.EventType, data any) (string, error) {
	e.log.Info("event", "type", event, "account", account, "world", world.String(), "data", data)
	return "", nil
}
