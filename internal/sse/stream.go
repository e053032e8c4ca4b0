package sse

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// stream is one client that listens.
type stream struct {
	call   *httpapi.Call
	owner  schema.Owner
	scopes []schema.Scope // of the key, when it came
	kinds  []schema.LiveKind
	since  time.Time // what has changed from then on is to be told
	queue  chan item
	// marks say, by feed, up to when everything was sent, in microseconds; 0 for feeds
	// that have nothing for the client.
	marks []atomic.Int64
	over  chan struct{} // closed by end
	end   func()
	slow  atomic.Bool // it was ended because the client does not read
}

// item is what waits to be sent.
type item struct {
	text []byte // of the message, without its id
	feed int
	mark int64 // of the feed, when this is sent; 0 leaves it
}

func newStream(c *httpapi.Call, feeds int) *stream {
	st := &stream{call: c, owner: c.Owner(), queue: make(chan item, queueLength), marks: make([]atomic.Int64, feeds), over: make(chan struct{})}
	st.end = sync.OnceFunc(func() { close(st.over) })
	return st
}

// wants reports whether the client is told of a kind at all.
func (st *stream) wants(kind schema.LiveKind) bool { return slices.Contains(st.kinds, kind) }

// sees reports whether the client may be told of a notice.
func (st *stream) sees(n *Notice) bool {
	return st.wants(n.Kind) && slices.Contains(st.scopes, n.Scope) && (n.Reads == "" || slices.Contains(st.scopes, n.Reads))
}

// cursor is up to when everything was sent: where a client goes on that comes again.
func (st *stream) cursor() int64 {
	least := int64(0)
	for i := range st.marks {
		if at := st.marks[i].Load(); at != 0 && (least == 0 || at < least) {
			least = at
		}
	}
	if least == 0 { // it is told nothing, and misses nothing
		least = st.since.UnixMicro()
	}
	return least
}

// put has messages sent, and the mark of their feed moved when all of them are; 0
// leaves it. It never waits: a client whose queue is full is cut off.
func (st *stream) put(m *metrics, feed int, all []message, mark int64) {
	if len(all) == 0 {
		if mark != 0 && len(st.queue) == 0 { // else one that waits may be of the feed
			st.marks[feed].Store(mark)
		}
		return
	}
	for i, one := range all {
		it := item{text: one.text, feed: feed}
		if i == len(all)-1 {
			it.mark = mark
		}
		select {
		case st.queue <- it:
			m.notices.WithLabelValues(one.name).Inc()
		default:
			if !st.slow.Swap(true) {
				m.cutOff.Inc()
			}
			st.end()
			return
		}
	}
}

// message is what a client gets, without its id.
type message struct {
	name string
	text []byte
}

// written is an event without its id (WHATWG HTML, 9.2.6). data has no line break.
func written(name string, data []byte) []byte {
	out := make([]byte, 0, len(name)+len(data)+len("event: \ndata: \n\n"))
	out = append(append(out, "event: "...), name...)
	out = append(append(out, "\ndata: "...), data...)
	return append(out, "\n\n"...)
}

// resetOf is the message that says what to read anew.
func resetOf(kinds []schema.LiveKind) message {
	data, err := json.Marshal(schema.LiveAnew{Kinds: kinds})
	if err != nil {
		data = []byte("{}") // it cannot fail: a list of words
	}
	return message{schema.LiveReset, written(schema.LiveReset, data)}
}

// run sends what comes until the client leaves or does not read, the key is not good
// any more, or the time is over. first is sent before all else.
func (st *stream) run(out httpapi.Flusher, first [][]byte, ended <-chan struct{}, after <-chan time.Time) error {
	for _, text := range first {
		if err := st.send(out, text); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		var err error
		select {
		case it := <-st.queue:
			err = st.drain(out, it)
		case <-ticker.C:
			err = st.comment(out)
		case <-st.over:
			return nil
		case <-ended:
			return nil
		case <-after:
			return nil
		case <-st.call.Context().Done():
			return nil
		}
		if err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// drain sends an item and what waits behind it.
func (st *stream) drain(out httpapi.Flusher, it item) error {
	for {
		if err := st.send(out, it.text); err != nil {
			return err
		}
		if it.mark != 0 {
			st.marks[it.feed].Store(it.mark)
		}
		select {
		case it = <-st.queue:
		case <-st.over:
			return nil
		default:
			return nil
		}
	}
}

// send writes a message with the id that the client may come back with.
func (st *stream) send(out httpapi.Flusher, text []byte) error {
	var room [32]byte
	id := append(strconv.AppendInt(append(room[:0], "id: "...), st.cursor(), 10), '\n')
	if _, err := out.Write(id); err != nil {
		return err
	}
	_, err := out.Write(text)
	return err
}

// comment writes something that is no message, and the newest id: nothing to tell is
// told, too.
func (st *stream) comment(out httpapi.Flusher) error {
	return st.send(out, []byte(": nothing new\n\n"))
}
