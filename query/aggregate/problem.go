package aggregate

import (
	"errors"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
)

// Unavailable converts an error to a problem that asks the client to retry later. It returns a *schema.Problem
// unchanged. It also returns an exception of ClickHouse unchanged, which the client gets as an internal error.
func Unavailable(err error) error {
	var exception *clickhouse.Exception
	var problem *schema.Problem // such as the one of history.Slots.Acquire
	if err == nil || errors.As(err, &exception) || errors.As(err, &problem) {
		return err
	}
	return schema.Unavailable("History cannot be read at the moment; current air quality is not affected. Please try again.", err)
}
