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
	// queued is the capacity of the worker's queue. The broker sends at most inFlight unacknowledged messages. Messages
	// of QoS 0 are never acknowledged, so more can arrive.
	queued = 4 * inFlight
	// mostMessages is the largest number of messages in a batch.
	mostMessages = 5000
	// A batch ends if no message arrives for the duration `idle`, and at the latest after the duration `linger`.
	// Brokers limit the number of unacknowledged messages, so a batch must not wait long for more.
	idle   = 50 * time.Millisecond
	linger = time.Second
	// grace is the time limit for storing the last batch after the context of Run has ended.
	grace = 3 * time.Second
	// firstRetry and longestRetry are the limits of the backoff after failures.
	firstRetry   = 500 * time.Millisecond
	longestRetry = 30 * time.Second
	// stable is how long a connection must last to reset the backoff. If two clients have the same id, each new
	// connection of one ends the connection of the other. Such short connections must not reset the backoff.
	stable = time.Minute
)

// Subscriber receives the messages of one source.
type Subscriber struct {
	Settings Settings
	// Process stores the readings of messages. If it returns an error, it is called again with the same messages.
	Process func(ctx context.Context, messages []stream.Message) error
	// Connected is called with true when a connection is made, and with false when it is lost.
	Connected func(bool)
	// Failed is called with the error of each failed or lost connection.
	Failed func(error)
	// Repeated is called for each received message that was stored before.
	Repeated func()
	Name     string // name of the source, for logs
	Log      *slog.Logger
}

// Run receives messages until ctx ends. It reconnects after failures. At the end, messages that are not stored stay
// unacknowledged, and the broker delivers them again.
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

// connect opens a connection and receives messages, until the connection is lost or ctx ends.
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
		<-ended // wait until the worker has acknowledged the last batch
		return nil
	}
}

// worker processes the messages of all connections.
type worker struct {
	*Subscriber

	queue  chan message
	recent *recent
}

// deliver puts a message into the worker's queue. After ctx has ended, it may drop the message unacknowledged.
func (w *worker) deliver(ctx context.Context, m message) {
	select {
	case w.queue <- m:
	case <-ctx.Done():
	}
}

// run processes batches of messages until ctx ends. The last batch may then take at most the duration `grace`.
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

// collect returns the next batch of received messages. It returns nil if ctx ends before a message arrives.
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

// finish stores a batch, and then acknowledges its messages in order. It returns false if it stops before the messages
// are stored.
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
