package columnstore

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
)

// logForwarder writes the engine's log lines to the service's log. The engine writes JSON. A line that is not JSON
// comes from the library libchdb.
type logForwarder struct {
	log  *slog.Logger
	rest []byte
}

// maxLine limits how much of an incomplete line is buffered, in bytes. A longer line is logged in pieces.
const maxLine = 64 << 10

// Write receives part of the engine's standard error, and logs each complete line.
func (r *logForwarder) Write(p []byte) (int, error) {
	r.rest = append(r.rest, p...)
	for {
		line, rest, complete := bytes.Cut(r.rest, []byte("\n"))
		if !complete && len(line) < maxLine {
			return len(p), nil
		}
		r.line(bytes.TrimSpace(line))
		r.rest = rest
	}
}

func (r *logForwarder) line(line []byte) {
	if len(line) == 0 {
		return
	}
	var fields map[string]any
	if json.Unmarshal(line, &fields) != nil {
		r.log.Warn("output of the engine", "line", string(line))
		return
	}
	var level slog.Level
	if text, ok := fields["level"].(string); ok {
		_ = level.UnmarshalText([]byte(text)) // an unknown level stays info
	}
	message, _ := fields["msg"].(string)
	for _, known := range []string{"level", "msg", "time"} {
		delete(fields, known)
	}
	attrs := make([]slog.Attr, 0, len(fields))
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		attrs = append(attrs, slog.Any(key, fields[key]))
	}
	r.log.LogAttrs(context.Background(), level, message, attrs...) //nolint:sloglint // the message is the child's own
}
