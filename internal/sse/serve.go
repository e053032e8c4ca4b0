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
	// eventStream is the media type of server-sent events.
	eventStream = "text/event-stream"
	// longest is the longest time that a client can ask for; without it a stream has
	// no end.
	longest = time.Hour
	// reconnect is when a browser comes again after a stream has ended.
	reconnect = 2 * time.Second
)

// Routes are the endpoints about what changes.
func (s *Service) Routes() []httpapi.Route {
	return []httpapi.Route{{Method: http.MethodGet, Path: "/v1/live", Scope: "", Type: eventStream, Handler: s.serve}}
}

// serve answers GET /v1/live.
func (s *Service) serve(c *httpapi.Call) (httpapi.Response, error) {
	if accept := c.Header.Get("Accept"); accept != "" && !c.Wants(eventStream) && !strings.Contains(accept, "*/*") {
		return httpapi.Response{}, schema.Refuse(schema.NotAcceptable, "Accept", "Replies are "+eventStream+".")
	}
	kinds, limit, err := s.asked(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	st := newStream(c, len(s.watchers))
	st.scopes = s.Access.Scopes(c)
	st.kinds = s.seen(kinds, st.scopes)
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
		defer s.leave(st)
		var after <-chan time.Time // never, without a limit
		if limit > 0 {
			timer := time.NewTimer(limit)
			defer timer.Stop()
			after = timer.C
		}
		return st.run(out, first, s.ended, after)
	}}, nil
}

// asked reads the parameters.
func (s *Service) asked(c *httpapi.Call) (kinds []schema.LiveKind, limit time.Duration, err error) {
	params, err := httpapi.Parameters(c.URL.RawQuery, "kinds", "for")
	if err != nil {
		return nil, 0, err
	}
	all := slices.Sorted(maps.Keys(s.kinds))
	var f schema.Faults
	kinds = all
	if text, given := params["kinds"]; given {
		kinds = nil
		for name := range strings.SplitSeq(text, ",") {
			if !slices.Contains(all, schema.LiveKind(name)) {
				f.Add("kinds", "The kinds are some of "+join(all)+", with commas between.")
				break
			}
			kinds = append(kinds, schema.LiveKind(name))
		}
	}
	if text, given := params["for"]; given {
		n, err := strconv.ParseUint(text, 10, 16)
		limit = time.Duration(n) * time.Second
		if err != nil || limit < time.Second || limit > longest {
			f.Add("for", fmt.Sprintf("The parameter for is 1 to %d seconds.", int(longest.Seconds())))
		}
	}
	return kinds, limit, f.Problem()
}

func join(all []schema.LiveKind) string {
	words := make([]string, len(all))
	for i, k := range all {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// seen are the kinds of which a key with some scopes may be told, in the order of
// their names, each once.
func (s *Service) seen(kinds []schema.LiveKind, scopes []schema.Scope) []schema.LiveKind {
	out := []schema.LiveKind{}
	for _, name := range kinds {
		if slices.ContainsFunc(s.kinds[name].Scopes, func(need schema.Scope) bool { return slices.Contains(scopes, need) }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// resume is from when on a client is told: from where it stopped when it says so and
// that is not too long ago, else from now. known is false when it missed something.
func resume(c *httpapi.Call, now time.Time) (since time.Time, known bool) {
	text := c.Header.Get("Last-Event-ID")
	if text == "" {
		return now, true
	}
	micros, err := strconv.ParseInt(text, 10, 64)
	at := time.UnixMicro(micros)
	if err != nil || now.Sub(at) > resumeMost || at.After(now.Add(overlap)) {
		return now, false
	}
	if at.After(now) { // another instance's clock
		at = now
	}
	return at, true
}

// greeting are the first messages: hello, and that something was missed.
func (st *stream) greeting(now time.Time, known bool) ([][]byte, error) {
	data, err := json.Marshal(schema.LiveGreeting{
		Mode: st.owner.World.String(), Account: st.owner.Account, Kinds: st.kinds, At: now.UTC().Format(time.RFC3339),
	})
	if err != nil {
		return nil, fmt.Errorf("writing the first message: %w", err)
	}
	hello := fmt.Appendf(nil, "retry: %d\n", reconnect.Milliseconds())
	out := [][]byte{append(hello, written(schema.LiveHello, data)...)}
	if !known {
		out = append(out, resetOf(st.kinds).text)
	}
	return out, nil
}

// admit lets a stream in, unless its key, its account or the instance has as many as
// it may have.
func (s *Service) admit(st *stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(reason, text string) error {
		s.metrics.refused.WithLabelValues(reason).Inc()
		p := schema.Refuse(schema.RateLimited, "", text)
		p.RetryAfter = int(2 * reconnect.Seconds())
		return p
	}
	switch {
	case s.of[st.call.Key] >= mostOfKey:
		return refuse("key", fmt.Sprintf("The API key has %d streams open, which is as many as it may have; close one.", mostOfKey))
	case s.of[st.call.Account] >= mostOfAccount:
		return refuse("account", fmt.Sprintf("The account has %d streams open, which is as many as it may have; close one.", mostOfAccount))
	case len(s.streams) >= s.Most:
		return refuse("all", "There are as many streams as this server can keep; ask again somewhat later.")
	}
	s.streams[st] = struct{}{}
	s.of[st.call.Key]++
	s.of[st.call.Account]++
	return nil
}

// leave takes a stream out.
func (s *Service) leave(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, st)
	for _, id := range [...]string{st.call.Key, st.call.Account} {
		if s.of[id]--; s.of[id] == 0 {
			delete(s.of, id)
		}
	}
}
