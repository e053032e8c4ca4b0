package sse

import (
	"context"
	"slices"
	"time"

	"vayu/internal/httpapi"
)

// A stream ends within a second of its key or session. Keys are in memory, so that
// looking at all of them costs nothing; sessions are one query.
const (
	keyEvery     = 250 * time.Millisecond
	sessionEvery = 750 * time.Millisecond
)

// checkKeys ends the streams whose keys may not do any more what they could.
func (s *Service) checkKeys(context.Context) {
	for _, st := range s.all() {
		if !slices.Equal(st.scopes, s.Access.Scopes(st.call)) {
			st.end()
		}
	}
}

// checkSessions ends the streams whose sessions have ended.
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
	limit, cancel := context.WithTimeout(ctx, lookMost)
	defer cancel()
	over, err := s.Access.Ended(limit, calls)
	s.sessions.Tell(ctx, err)
	if err != nil {
		return
	}
	for i, st := range streams {
		if over[i] {
			st.end()
		}
	}
}

// all are the streams that are open.
func (s *Service) all() []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*stream, 0, len(s.streams))
	for st := range s.streams {
		out = append(out, st)
	}
	return out
}
