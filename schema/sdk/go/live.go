package vayu

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Message is a message of GET /v1/live.
type Message struct {
	Event string
	ID    string // id of this message, or of the last message that had one
	Data  json.RawMessage
}

// LiveOptions has the optional parts of [Client.Live].
type LiveOptions struct {
	Kinds       []string // air, batch, delivery or event; the default is all that the key can read
	LastEventID string   // id of the last processed message; "" for none
	// Silence is how long no byte may arrive before the client reconnects. The default is 45 seconds. The service
	// sends something every 15 seconds.
	Silence time.Duration
}

// firstReconnect is the minimum wait before a reconnection. A field "retry" in the stream replaces it.
const firstReconnect = 2 * time.Second

// maxLine limits a line of a stream, in bytes.
const maxLine = 4 << 20

// Live iterates over the messages of GET /v1/live. It reconnects with Last-Event-ID, so a message can be repeated.
// After a message "reset", reload the objects of the kinds that the message lists. The iteration ends with an error if
// ctx ends, or if the service rejects the call with an error that is not retryable.
func (c *Client) Live(ctx context.Context, options LiveOptions) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		s := stream{last: options.LastEventID, retry: firstReconnect, silence: options.Silence}
		if s.silence == 0 {
			s.silence = 45 * time.Second
		}
		call := Call{Header: http.Header{"Accept": {"text/event-stream"}}, Query: url.Values{}}
		if len(options.Kinds) > 0 {
			call.Query.Set("kinds", strings.Join(options.Kinds, ","))
		}
		for failures := 0; ; failures++ {
			if s.last != "" {
				call.Header.Set("Last-Event-ID", s.last)
			}
			resp, err := c.Response(ctx, "/v1/live", call) //nolint:bodyclose // read closes it
			if err == nil {
				var more bool
				if more, err = s.read(resp.Body, func(m Message) bool { failures = 0; return yield(m, nil) }); !more {
					return
				}
			}
			if ctx.Err() != nil {
				yield(Message{}, context.Cause(ctx))
				return
			}
			if problem, ok := errors.AsType[*ProblemError](err); ok && !problem.Retryable {
				yield(Message{}, err)
				return
			}
			if err := sleep(ctx, max(s.retry, backoff(failures))); err != nil {
				yield(Message{}, err)
				return
			}
		}
	}
}

// stream is the state of an SSE stream that outlives its connections.
type stream struct {
	last    string // id of the last message
	retry   time.Duration
	silence time.Duration
}

// read parses Server-Sent Events (WHATWG HTML, 9.2) from `body`, and calls `yield` for each message until the stream
// ends or is silent for s.silence. It discards an incomplete last message. `more` is false if `yield` returned false.
func (s *stream) read(body io.ReadCloser, yield func(Message) bool) (more bool, err error) {
	defer body.Close()
	silent := time.AfterFunc(s.silence, func() { _ = body.Close() })
	defer silent.Stop()
	lines := bufio.NewScanner(io.TeeReader(body, touch(func() { silent.Reset(s.silence) })))
	lines.Buffer(nil, maxLine)
	lines.Split(splitLines)
	m, data := Message{ID: s.last}, []string(nil)
	for lines.Scan() {
		if lines.Text() == "" {
			s.last = m.ID
			if len(data) > 0 {
				m.Data = json.RawMessage(strings.Join(data, "\n"))
				if m.Event == "" {
					m.Event = "message"
				}
				silent.Stop() // the time during which the caller processes m does not count as silence
				if !yield(m) {
					return false, nil
				}
				silent.Reset(s.silence)
			}
			m, data = Message{ID: s.last}, nil
			continue
		}
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			m.Event = value
		case "id":
			m.ID = value
		case "retry":
			if ms, err := strconv.ParseUint(value, 10, 31); err == nil {
				s.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
	return true, lines.Err()
}

// touch is a writer that calls a function for each write.
type touch func()

// Write calls the function. It implements io.Writer.
func (t touch) Write(p []byte) (int, error) {
	t()
	return len(p), nil
}

// splitLines is a bufio.SplitFunc for lines that end with \n, \r or \r\n. It drops a last line without such an end.
func splitLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 || data[i] == '\r' && i+1 == len(data) && !atEOF: // a \n may follow
		if atEOF {
			return len(data), nil, nil
		}
		return 0, nil, nil
	case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i:i], nil
	}
	return i + 1, data[:i:i], nil
}
