package fixturetest

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// Log keeps what was logged.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is all that was logged.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count is how often a word was logged.
func (l *Log) Count(word string) int { return strings.Count(l.String(), word) }

// Logger writes to it, from debug on.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
