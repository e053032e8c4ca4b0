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

// watcher looks at one feed for all streams. What it remembers is its own: one
// goroutine calls look.
type watcher struct {
	*Service

	feed  Feed
	index int // of the feed
	kinds []schema.LiveKind
	away  *failurelog.Outage

	places map[*stream]*place
	// told is what was told last, by owner and by what it is about: as much of it as
	// the feed still finds.
	told map[schema.Owner]map[string]string
}

// place is how far a stream is.
type place struct {
	since   time.Time // everything before was told
	fresh   bool      // nothing was told yet
	resetAt time.Time // the last time that it was told to read anew
	owed    bool      // it should be told so again
}

// look looks once, and tells what was found.
func (w *watcher) look(ctx context.Context) {
	asks := w.asks()
	if len(asks) == 0 {
		return
	}
	now := w.Now()
	limit, cancel := context.WithTimeout(ctx, lookMost)
	defer cancel()
	found, err := w.feed.Changes(limit, asks)
	var news map[schema.Owner][]told
	if err == nil {
		news, err = render(found.Notices)
	}
	w.away.Tell(ctx, err)
	if err != nil {
		return
	}
	cut := map[schema.Owner]bool{}
	for _, o := range found.Cut {
		cut[o] = true
	}
	fresh := make(map[schema.Owner][]told, len(asks)) // what is not as it was told
	for _, a := range asks {
		fresh[a.Owner] = w.remember(a.Owner, news[a.Owner], cut[a.Owner])
	}
	for st, p := range w.places {
		all := fresh[st.owner]
		if p.fresh {
			all = news[st.owner]
		}
		w.tell(st, p, all, cut[st.owner], now)
	}
}

// asks are the owners for whom somebody listens, and brings places up to date.
func (w *watcher) asks() []Ask {
	there := map[*stream]*place{}
	since := map[schema.Owner]time.Time{}
	for _, st := range w.all() {
		if !slices.ContainsFunc(w.kinds, st.wants) {
			continue
		}
		p := w.places[st]
		if p == nil {
			p = &place{since: st.since, fresh: true}
		}
		there[st] = p
		if at, known := since[st.owner]; !known || p.since.Before(at) {
			since[st.owner] = p.since
		}
	}
	w.places = there
	for o := range w.told {
		if _, watched := since[o]; !watched {
			delete(w.told, o)
		}
	}
	out := make([]Ask, 0, len(since))
	for o, at := range since {
		out = append(out, Ask{o, at.Add(-overlap)})
	}
	return out
}

// told is a notice on its way.
type told struct {
	*Notice

	key, data string // what it is about, and what it says
	text      []byte // of the message
}

// render makes messages of notices, once for all who get them.
func render(all []Notice) (map[schema.Owner][]told, error) {
	out := map[schema.Owner][]told{}
	for i := range all {
		n := &all[i]
		data, err := json.Marshal(n.Data)
		if err != nil {
			return nil, fmt.Errorf("writing a notice of %s: %w", n.Kind, err)
		}
		out[n.Owner] = append(out[n.Owner], told{n, string(n.Kind) + " " + n.ID, string(data), written(string(n.Kind), data)})
	}
	return out, nil
}

// remember notes what an owner is told, and returns what he has not been told yet. What
// was not found this time is forgotten, unless there was more than was found.
func (w *watcher) remember(o schema.Owner, all []told, cut bool) (fresh []told) {
	last, next := w.told[o], make(map[string]string, len(all))
	for _, t := range all {
		if data, known := last[t.key]; !known || data != t.data {
			fresh = append(fresh, t)
		}
		next[t.key] = t.data
	}
	if cut {
		for key, data := range last {
			if _, found := next[key]; !found && len(next) < rememberMost {
				next[key] = data
			}
		}
	}
	w.told[o] = next
	return fresh
}

// rememberMost bounds what is remembered of an owner who is cut for long.
const rememberMost = 10_000

// tell puts what is new into the queue of a stream, or that too much is.
func (w *watcher) tell(st *stream, p *place, all []told, cut bool, now time.Time) {
	all = slices.DeleteFunc(slices.Clone(all), func(t told) bool { return !st.sees(t.Notice) })
	missed := cut || len(all) > mostAtOnce || now.Sub(p.since) > resumeMost+overlap
	p.since, p.fresh = now, false
	p.owed = p.owed || missed
	if missed {
		all = nil
	}
	messages := make([]message, 0, len(all)+1)
	for _, t := range all {
		messages = append(messages, message{string(t.Kind), t.text})
	}
	if p.owed && now.Sub(p.resetAt) >= resetEvery {
		p.owed, p.resetAt = false, now
		messages = append(messages, resetOf(w.wanted(st)))
	}
	mark := now.UnixMicro()
	if p.owed { // whoever comes again before he was told must learn of it then
		mark = 0
	}
	st.put(w.metrics, w.index, messages, mark)
}

// wanted are the kinds of the feed that a stream is told of.
func (w *watcher) wanted(st *stream) []schema.LiveKind {
	var kinds []schema.LiveKind
	for _, kind := range w.kinds {
		if st.wants(kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
