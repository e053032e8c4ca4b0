package mqtt

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"vayu/ingest/stream"
	"vayu/internal/failurelog"
	"vayu/internal/sleep"
)

const (
	// queued is how many messages wait for the worker. The broker sends no more than inFlight
	// without an acknowledgement, but messages of QoS 0 have none.
	queued = 4 * inFlight
	// mostMessages bounds a batch.
	mostMessages = 5000
	// A batch ends when no message came for idle, or after linger. Brokers send a limited number
	// of messages without an acknowledgement, so a batch must not wait long for more.
	idle   = 50 * time.Millisecond
	linger = time.Second
	// grace is how long the last batch may take to be stored at a stop.
	grace = 3 * time.Second
	// firstRetry and longestRetry are the limits of the backoff after failures.
	firstRetry   = 500 * time.Millisecond
	longestRetry = 30 * time.Second
	// stable is how long a connection must last to end the backoff. A broker ends the connection
	// of a client at once when another one has the same id.
	stable = time.Minute
)

// Subscriber receives the messages of one source.
type Subscriber struct {
	Settings Settings
	// Process stores the readings of messages. After an error it is called again with the same.
	Process func(ctx context.Context, messages []stream.Message) error
	// Connected is called when a connection is made, true, or lost, false.
	Connected func(bool)
	// Failed is called with the error of each failed or lost connection.
	Failed func(error)
	// Repeated is called for each message that was stored before.
	Repeated func()
	Name     string // of the source, in logs
	Log      *slog.Logger
}

// Run receives messages until ctx ends. It reconnects after failures. Messages that are not
// stored when it ends are not acknowledged, and the broker delivers them again.
func (s *Subscriber) Run(ctx context.Context) error {
	w := &worker{Subscriber: s, queue: make(chan message, queued), recent: newRecent()}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.run(ctx)
	}()
	failing := failurelog.New(s.Log, "source "+s.Name+": the MQTT broker", "subscribing", "messages wait at the broker", nil)
	for failures, number := 0, 0; ctx.Err() == nil; number++ {
		began := time.Now()
		err := s.connect(ctx, w, number, ended, failing)
		w.recent.lost(time.Now())
		if failures++; time.Since(began) > stable {
			failures = 0
		}
		failing.Observe(ctx, err)
		if err != nil && ctx.Err() == nil {
			s.Failed(err)
		}
		sleep.For(ctx, sleep.Backoff(failures, firstRetry, longestRetry))
	}
	<-ended
	return nil
}

// connect receives messages through one connection, until it is lost or ctx ends.
func (s *Subscriber) connect(ctx context.Context, w *worker, number int, ended <-chan struct{}, failing *failurelog.Log) error {
	c, err := s.Settings.open(ctx, func(m message) {
		m.connection = number
		w.deliver(ctx, m)
	})
	if err != nil {
		return err
	}
	failing.Observe(ctx, nil)
	s.Connected(true)
	defer s.Connected(false)
	defer c.close()
	select {
	case err = <-c.lost:
		return fmt.Errorf("%w: %w", errLost, err)
	case <-ctx.Done():
		<-ended // the last batch is acknowledged
		return nil
	}
}

// worker processes the messages of all connections.
type worker struct {
	*Subscriber

	queue  chan message
	recent *recent
}

// deliver passes a message to the worker.
func (w *worker) deliver(ctx context.Context, m message) {
	select {
	case w.queue <- m:
	case <-ctx.Done():
	}
}

// run processes messages until ctx ends.
func (w *worker) run(ctx context.Context) {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, stop) })()
	for {
		batch := w.collect(ctx)
		if len(batch) == 0 || !w.finish(ctx, working, batch) {
			return
		}
	}
}

// collect waits for a message, and gathers those that follow. It returns nil when ctx ends
// before the first message.
func (w *worker) collect(ctx context.Context) []message {
	var batch []message
	select {
	case m := <-w.queue:
		batch = append(batch, m)
	case <-ctx.Done():
		return nil
	}
	enough, pause := time.NewTimer(linger), time.NewTimer(idle)
	defer enough.Stop()
	defer pause.Stop()
	for len(batch) < mostMessages {
		select {
		case m := <-w.queue:
			batch = append(batch, m)
			pause.Reset(idle)
		case <-pause.C:
			return batch
		case <-enough.C:
			return batch
		case <-ctx.Done():
			return batch
		}
	}
	return batch
}

// finish stores a batch, and then acknowledges its messages in order. It returns false if
// ctx ends before they are stored.
func (w *worker) finish(ctx, working context.Context, batch []message) bool {
	messages := make([]stream.Message, 0, len(batch))
	for i := range batch {
		if w.recent.accept(&batch[i]) {
			messages = append(messages, batch[i].Message)
		} else {
			w.Repeated()
		}
	}
	for failures := 0; len(messages) > 0; failures++ {
		if err := w.Process(working, messages); err == nil {
			break
		}
		if working.Err() != nil || !sleep.For(ctx, sleep.Backoff(failures, firstRetry, longestRetry)) {
			return false
		}
	}
	for i := range batch {
		if err := batch[i].ack(); err != nil {
			w.Log.DebugContext(ctx, "acknowledging a message", "source", w.Name, "error", err)
		}
		w.recent.add(&batch[i], time.Now())
	}
	return true
}
