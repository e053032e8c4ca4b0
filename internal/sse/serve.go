package sse

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
)

const (
	// eventStream is the media type of Server-Sent Events.
	eventStream = "text/event-stream"
	// maxDuration is the largest value of the parameter "for", which limits the duration of a
	// stream. Without the parameter there is no limit.
	maxDuration = time.Hour
	// reconnect is how long a browser waits before it reconnects.
	reconnect = 2 * time.Second
)

// Routes returns the endpoint GET /v1/live.
func (s *Service) Routes() []httpapi.Route {
	return []httpapi.Route{{Method: http.MethodGet, Path: "/v1/live", Scope: "", Type: eventStream, Params: []string{"kinds", "for"}, Handler: s.serve}}
}

func (s *Service) serve(c *httpapi.Call) (httpapi.Response, error) {
	if accept := c.Header.Get("Accept"); accept != "" && !c.Wants(eventStream) && !strings.Contains(accept, "*/*") {
		return httpapi.Response{}, schema.NewProblem(schema.NotAcceptable, "Accept", "The Accept header must allow "+eventStream+".")
	}
	kinds, limit, err := s.parseParameters(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	st := newStream(c, len(s.watchers))
	st.scopes = s.Access.Scopes(c)
	st.kinds = s.visibleKinds(kinds, st.scopes)
	now := s.Now()
	since, known := resume(c, now)
	st.since = since
	for _, w := range s.watchers {
		if slices.ContainsFunc(w.kinds, st.wants) {
			st.marks[w.index].Store(since.UnixMicro())
		}
	}
	first, err := st.greeting(now, known)
	if err != nil {
		return httpapi.Response{}, err
	}
	if c.Method != http.MethodHead {
		if err := s.admit(st); err != nil {
			return httpapi.Response{}, err
		}
	}
	return httpapi.Response{Type: []string{eventStream}, Endless: true, Stream: func(out httpapi.Flusher) error {
		defer s.remove(st)
		var after <-chan time.Time // without a limit, a nil channel, which never delivers
		if limit > 0 {
			timer := time.NewTimer(limit)
			defer timer.Stop()
			after = timer.C
		}
		return st.run(out, first, s.ended, after)
	}}, nil
}

// parseParameters reads the parameters "kinds" (default: all kinds) and "for" (default: 0, which means no limit).
func (s *Service) parseParameters(c *httpapi.Call) (kinds []schema.LiveKind, limit time.Duration, err error) {
	all := slices.Sorted(maps.Keys(s.kinds))
	var f schema.RequestErrors
	kinds = all
	if text, given := c.Params["kinds"]; given {
		kinds = nil
		for name := range strings.SplitSeq(text, ",") {
			if !slices.Contains(all, schema.LiveKind(name)) {
				f.Add("kinds", "The kinds must be a list of "+schema.Join(all, ", ")+", separated by commas.")
				break
			}
			kinds = append(kinds, schema.LiveKind(name))
		}
	}
	if text, given := c.Params["for"]; given {
		n, err := strconv.ParseUint(text, 10, 16)
		limit = time.Duration(n) * time.Second
		if err != nil || limit < time.Second || limit > maxDuration {
			f.Add("for", fmt.Sprintf("The parameter for must be between 1 and %d seconds.", int(maxDuration.Seconds())))
		}
	}
	return kinds, limit, f.Problem()
}

// visibleKinds returns those of the given kinds that the scopes permit, sorted and without duplicates.
func (s *Service) visibleKinds(kinds []schema.LiveKind, scopes []schema.Scope) []schema.LiveKind {
	out := []schema.LiveKind{}
	for _, name := range kinds {
		if slices.ContainsFunc(s.kinds[name].Scopes, func(need schema.Scope) bool { return slices.Contains(scopes, need) }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// resume returns the time `since` from which a client gets changes: the time in the header Last-Event-ID, or now if the
// header is missing. If the header is invalid, or its time is older than maxResume or too far in the future, `since` is
// now and `known` is false, because the client may have missed changes.
func resume(c *httpapi.Call, now time.Time) (since time.Time, known bool) {
	text := c.Header.Get("Last-Event-ID")
	if text == "" {
		return now, true
	}
	micros, err := strconv.ParseInt(text, 10, 64)
	at := time.UnixMicro(micros)
	if err != nil || now.Sub(at) > maxResume || at.After(now.Add(pollOverlap)) {
		return now, false
	}
	if at.After(now) { // clock skew between instances
		at = now
	}
	return at, true
}

// greeting returns the first messages of a stream: hello and, if the client may have missed changes, a reset.
func (st *stream) greeting(now time.Time, known bool) ([][]byte, error) {
	data, err := json.Marshal(schema.LiveGreeting{
		Mode: st.owner.World.String(), Account: st.owner.Account, Kinds: st.kinds, At: schema.FormatTime(now),
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the hello message: %w", err)
	}
	hello := fmt.Appendf(nil, "retry: %d\n", reconnect.Milliseconds())
	out := [][]byte{append(hello, encodeMessage(schema.LiveHello, data)...)}
	if !known {
		out = append(out, resetMessage(st.kinds).text)
	}
	return out, nil
}

// admit registers a stream. It returns an error if the key, the account or the instance has its
// maximum number of streams.
func (s *Service) admit(st *stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	reject := func(reason, text string) error {
		s.metrics.refused.WithLabelValues(reason).Inc()
		p := schema.NewProblem(schema.RateLimited, "", text)
		p.RetryAfter = int(2 * reconnect.Seconds())
		return p
	}
	switch {
	case s.counts[st.call.Key] >= maxPerKey:
		return reject("key", fmt.Sprintf("The API key has %d open streams, which is the limit. Close one.", maxPerKey))
	case s.counts[st.call.Account] >= maxPerAccount:
		return reject("account", fmt.Sprintf("The account has %d open streams, which is the limit. Close one.", maxPerAccount))
	case len(s.streams) >= s.MaxStreams:
		return reject("all", "The server has reached its limit of streams. Retry later.")
	}
	s.streams[st] = struct{}{}
	s.counts[st.call.Key]++
	s.counts[st.call.Account]++
	return nil
}

func (s *Service) remove(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, st)
	for _, id := range [...]string{st.call.Key, st.call.Account} {
		if s.counts[id]--; s.counts[id] == 0 {
			delete(s.counts, id)
		}
	}
}
