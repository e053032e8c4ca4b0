package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"vayu/internal/columnstore/embedded/chdb"
	"vayu/internal/columnstore/embedded/session"
	"vayu/internal/columnstore/embedded/wire"
)

// flushEvery is the longest time for which data waits in the buffers of the compression and the connection.
const flushEvery = 200 * time.Millisecond

// written is the outcome of a query that writes its result to a pipe.
type written struct {
	counters chdb.Counters
	err      error
}

// pipe sends the result of a SELECT while the engine produces it. libchdb can also return a result in pieces, but each
// piece is a complete document, and in most formats documents cannot be joined. So the engine writes the result to a
// pipe, as with INTO OUTFILE. The pipe limits the data in memory.
func (h *handler) pipe(s *session.Session, q *request, a *answer) error {
	began := time.Now()
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("streaming a result: %w", err)
	}
	in := &wire.Result{File: reader}
	defer func() { in.CloseAfter(s.Left()) }()
	text, ok := q.Into(fmt.Sprintf("/proc/self/fd/%d", writer.Fd()), q.format)
	if !ok {
		_ = writer.Close()
		return h.whole(s, q, a)
	}
	end := make(chan written, 1)
	go func() {
		var w written
		var r chdb.Result
		if r, w.err = s.Query(text, q.format, q.params); w.err == nil {
			w.counters = r.Counters()
			r.Free()
		}
		_ = writer.Close()
		if s.Left() { // the query still runs, and the engine has not closed its end of the pipe
			in.End()
		}
		end <- w
	}()
	head, whole := in.Head()
	if whole {
		w := <-end
		switch e := (*chdb.Exception)(nil); {
		case errors.As(w.err, &e) && e.Code == codeSyntax:
			return h.whole(s, q, a) // its syntax error quotes the client's text, without INTO OUTFILE
		case w.err != nil:
			return w.err
		}
		a.start(q.format, len(head), w.counters, time.Since(began))
		if a.write(head) == nil {
			a.finish()
		}
		return nil
	}
	a.start(q.format, -1, chdb.Counters{}, time.Since(began))
	lost := a.copy(head, in)
	w := <-end
	if w.err != nil && !lost {
		return w.err
	}
	if !lost {
		a.finish()
	}
	return nil
}

// copy sends `head` and the rest of the result. If the client disconnects, copy reads on until the query ends, because
// the engine must not write to a closed pipe. The result `lost` is true if the client has disconnected.
func (a *answer) copy(head []byte, reader io.Reader) (lost bool) {
	lost = a.write(head) != nil
	if !lost {
		a.flush()
	}
	flushed := time.Now()
	chunk := make([]byte, wire.ChunkBytes)
	for {
		n, err := reader.Read(chunk)
		if n > 0 && !lost {
			lost = a.write(chunk[:n]) != nil
		}
		if err != nil {
			return lost
		}
		if !lost && time.Since(flushed) > flushEvery {
			a.flush()
			flushed = time.Now()
		}
	}
}
