package sse

import (
	"context"
	"slices"
	"time"

	"vayu/internal/httpapi"
)

// Intervals of the checks that end a stream within a second after its key or session has ended.
const (
	keyCheckInterval     = 250 * time.Millisecond // a check reads keys in memory
	sessionCheckInterval = 750 * time.Millisecond // a check makes one query
)

// checkKeys ends each stream whose key became invalid, or has other scopes than when the stream was opened.
func (s *Service) checkKeys(context.Context) {
	for _, st := range s.all() {
		if !slices.Equal(st.scopes, s.Access.Scopes(st.call)) {
			st.end()
		}
	}
}

// checkSessions ends each stream whose session has ended. If the query fails, the streams stay open.
func (s *Service) checkSessions(ctx context.Context) {
	var streams []*stream
	var calls []*httpapi.Call
	for _, st := range s.all() {
		if st.call.BySession {
			streams, calls = append(streams, st), append(calls, st.call)
		}
	}
	if len(calls) == 0 {
		return
	}
	limit, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	ended, err := s.Access.SessionsEnded(limit, calls)
	s.sessionFailures.Observe(ctx, err)
	if err != nil {
		return
	}
	for i, st := range streams {
		if ended[i] {
			st.end()
		}
	}
}

func (s *Service) all() []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*stream, 0, len(s.streams))
	for st := range s.streams {
		out = append(out, st)
	}
	return out
}
