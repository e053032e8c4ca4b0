package sse

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"vayu/internal/failurelog"
	"vayu/schema"
)

// watcher polls one feed for all streams. Only the goroutine that calls poll uses states and lastSent.
type watcher struct {
	*Service

	feed     Feed
	index    int // position of the feed in Config.Feeds
	kinds    []schema.LiveKind
	failures *failurelog.Log

	states map[*stream]*streamState
	// lastSent has the payload sent last, by owner and subject. The method `dedupe` compares payloads with it. If the
	// payload of a notice has not changed, only new streams get the notice.
	lastSent map[schema.Owner]map[string]string
}

// streamState records what a stream has got from the feed.
type streamState struct {
	since        time.Time // time of the last successful poll; before the first one, stream.since
	first        bool      // no poll has queued notices for the stream yet
	resetAt      time.Time // time of the last reset message
	resetPending bool      // a reset message must be sent when resetInterval has passed
}

// poll queues notices of the feed's changes in the streams. After an error, the next poll reads these changes again.
func (w *watcher) poll(ctx context.Context) {
	queries := w.queries()
	if len(queries) == 0 {
		return
	}
	now := w.Now()
	limit, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	found, err := w.feed.Changes(limit, queries)
	var notices map[schema.Owner][]rendered
	if err == nil {
		notices, err = render(found.Notices)
	}
	w.failures.Observe(ctx, err)
	if err != nil {
		return
	}
	cut := map[schema.Owner]bool{}
	for _, o := range found.Cut {
		cut[o] = true
	}
	fresh := make(map[schema.Owner][]rendered, len(queries)) // notices that differ from the payload sent last
	for _, q := range queries {
		fresh[q.Owner] = w.dedupe(q.Owner, notices[q.Owner], cut[q.Owner])
	}
	for st, p := range w.states {
		all := fresh[st.owner]
		if p.first {
			all = notices[st.owner]
		}
		w.enqueue(st, p, all, cut[st.owner], now)
	}
}

// queries returns a query for each owner that has streams with kinds of the feed. It also sets
// w.states to the states of these streams, and removes other owners from w.lastSent.
func (w *watcher) queries() []Query {
	open := map[*stream]*streamState{}
	since := map[schema.Owner]time.Time{}
	for _, st := range w.all() {
		if !slices.ContainsFunc(w.kinds, st.wants) {
			continue
		}
		p := w.states[st]
		if p == nil {
			p = &streamState{since: st.since, first: true}
		}
		open[st] = p
		if at, known := since[st.owner]; !known || p.since.Before(at) {
			since[st.owner] = p.since
		}
	}
	w.states = open
	for o := range w.lastSent {
		if _, watched := since[o]; !watched {
			delete(w.lastSent, o)
		}
	}
	out := make([]Query, 0, len(since))
	for o, at := range since {
		out = append(out, Query{o, at.Add(-pollOverlap)})
	}
	return out
}

// rendered is a notice with its encoded message.
type rendered struct {
	*Notice

	key, data string // subject and payload
	text      []byte // encoded message
}

// render encodes each notice once for all streams. It returns the notices by owner.
func render(all []Notice) (map[schema.Owner][]rendered, error) {
	out := map[schema.Owner][]rendered{}
	for i := range all {
		n := &all[i]
		data, err := json.Marshal(n.Data)
		if err != nil {
			return nil, fmt.Errorf("encoding notice of kind %q: %w", n.Kind, err)
		}
		out[n.Owner] = append(out[n.Owner], rendered{n, string(n.Kind) + " " + n.ID, string(data), encodeMessage(string(n.Kind), data)})
	}
	return out, nil
}

// dedupe returns the notices whose payload differs from the payload sent last, and records all payloads in
// w.lastSent. It removes subjects without a notice from w.lastSent. If `cut` is true, the feed has left out notices
// of the owner. dedupe then keeps subjects without a notice, until w.lastSent has maxRemembered subjects.
func (w *watcher) dedupe(o schema.Owner, all []rendered, cut bool) (fresh []rendered) {
	last, next := w.lastSent[o], make(map[string]string, len(all))
	for _, t := range all {
		if data, known := last[t.key]; !known || data != t.data {
			fresh = append(fresh, t)
		}
		next[t.key] = t.data
	}
	if cut {
		for key, data := range last {
			if _, found := next[key]; !found && len(next) < maxRemembered {
				next[key] = data
			}
		}
	}
	w.lastSent[o] = next
	return fresh
}

// maxRemembered limits lastSent: with so many subjects of one owner, dedupe keeps no more subjects without a notice.
const maxRemembered = 10_000

// enqueue queues the notices that a stream may get, or (at most once in resetInterval) a reset if notices are missing.
// Notices are missing if `cut` is true, there are more than maxNoticesPerPoll, or the last successful poll is too old.
func (w *watcher) enqueue(st *stream, p *streamState, all []rendered, cut bool, now time.Time) {
	all = slices.DeleteFunc(slices.Clone(all), func(t rendered) bool { return !st.allows(t.Notice) })
	missed := cut || len(all) > maxNoticesPerPoll || now.Sub(p.since) > maxResume+pollOverlap
	p.since, p.first = now, false
	p.resetPending = p.resetPending || missed
	if missed {
		all = nil
	}
	messages := make([]message, 0, len(all)+1)
	for _, t := range all {
		messages = append(messages, message{string(t.Kind), t.text})
	}
	if p.resetPending && now.Sub(p.resetAt) >= resetInterval {
		p.resetPending, p.resetAt = false, now
		messages = append(messages, resetMessage(w.kindsOf(st)))
	}
	mark := now.UnixMicro()
	if p.resetPending { // the mark stays, so that a client that reconnects resumes before the missed notices
		mark = 0
	}
	st.put(w.metrics, w.index, messages, mark)
}

func (w *watcher) kindsOf(st *stream) []schema.LiveKind {
	var kinds []schema.LiveKind
	for _, kind := range w.kinds {
		if st.wants(kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
