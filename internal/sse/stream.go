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

// stream is the SSE stream of one client.
type stream struct {
	call   *httpapi.Call
	owner  schema.Owner
	scopes []schema.Scope // scopes of the key when the stream was opened
	kinds  []schema.LiveKind
	since  time.Time // the stream gets changes from this time on
	queue  chan item
	// marks has a time for each feed, in Unix microseconds. All notices of the feed up to that time were sent. If the
	// client gets no kinds of the feed, the time is 0.
	marks []atomic.Int64
	done  chan struct{} // closed by end
	end   func()
	slow  atomic.Bool // the stream ended because its queue was full
}

// item is a message in the queue of a stream.
type item struct {
	text []byte // encoded message without its id
	feed int
	mark int64 // new mark of the feed after this message; 0 for no change
}

func newStream(c *httpapi.Call, feeds int) *stream {
	st := &stream{call: c, owner: c.Owner(), queue: make(chan item, queueLength), marks: make([]atomic.Int64, feeds), done: make(chan struct{})}
	st.end = sync.OnceFunc(func() { close(st.done) })
	return st
}

// wants reports whether the client gets notices of a kind.
func (st *stream) wants(kind schema.LiveKind) bool { return slices.Contains(st.kinds, kind) }

// allows reports whether the client gets the kind of n, and has the scopes that n needs.
func (st *stream) allows(n *Notice) bool {
	return st.wants(n.Kind) && slices.Contains(st.scopes, n.Scope) && (n.SubjectScope == "" || slices.Contains(st.scopes, n.SubjectScope))
}

// cursor returns the time up to which the notices of all feeds were sent, in Unix microseconds. A
// client that reconnects resumes there.
func (st *stream) cursor() int64 {
	least := int64(0)
	for i := range st.marks {
		if at := st.marks[i].Load(); at != 0 && (least == 0 || at < least) {
			least = at
		}
	}
	if least == 0 { // no feed has notices for the client
		least = st.since.UnixMicro()
	}
	return least
}

// put queues messages of a feed. When all of them are sent, the argument `mark` becomes the feed's mark, unless `mark`
// is 0. put never blocks. If the queue is full, put ends the stream.
func (st *stream) put(m *metrics, feed int, all []message, mark int64) {
	if len(all) == 0 {
		if mark != 0 && len(st.queue) == 0 { // otherwise the queue may have unsent messages of this feed
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
				m.tooSlow.Inc()
			}
			st.end()
			return
		}
	}
}

// message is an encoded SSE event without its id.
type message struct {
	name string
	text []byte
}

// encodeMessage encodes an SSE event without its id (WHATWG HTML, 9.2.6). `data` must not contain a line break.
func encodeMessage(name string, data []byte) []byte {
	out := make([]byte, 0, len(name)+len(data)+len("event: \ndata: \n\n"))
	out = append(append(out, "event: "...), name...)
	out = append(append(out, "\ndata: "...), data...)
	return append(out, "\n\n"...)
}

// resetMessage returns a message that makes the client read all data of the given kinds again.
func resetMessage(kinds []schema.LiveKind) message {
	data, err := json.Marshal(schema.LiveResetNotice{Kinds: kinds})
	if err != nil {
		data = []byte("{}") // unreachable, because a list of strings can be encoded
	}
	return message{schema.LiveReset, encodeMessage(schema.LiveReset, data)}
}

// run sends the messages `first`, and then queued messages. It returns when the client disconnects,
// when the stream ends, when the channel `ended` is closed, or when the channel `after` delivers.
func (st *stream) run(out httpapi.Flusher, first [][]byte, ended <-chan struct{}, after <-chan time.Time) error {
	for _, text := range first {
		if err := st.send(out, text); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	ticker := time.NewTicker(keepAliveInterval)
	defer ticker.Stop()
	for {
		var err error
		select {
		case it := <-st.queue:
			err = st.drain(out, it)
		case <-ticker.C:
			err = st.sendComment(out)
		case <-st.done:
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

// drain sends the item `it`, and all items that are queued at the moment.
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
		case <-st.done:
			return nil
		default:
			return nil
		}
	}
}

// send writes a message, with the cursor as its id. A client that reconnects sends the last id.
func (st *stream) send(out httpapi.Flusher, text []byte) error {
	var room [32]byte
	id := append(strconv.AppendInt(append(room[:0], "id: "...), st.cursor(), 10), '\n')
	if _, err := out.Write(id); err != nil {
		return err
	}
	_, err := out.Write(text)
	return err
}

// sendComment writes a comment with the cursor as its id. An idle client can thus resume at a recent time.
func (st *stream) sendComment(out httpapi.Flusher) error {
	return st.send(out, []byte(": nothing new\n\n"))
}
