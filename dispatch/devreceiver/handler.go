package devreceiver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"vayu/dispatch/webhook"
	"vayu/internal/sleep"
)

// ServeHTTP implements http.Handler.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := l.Now()
	if r.Method != http.MethodPost {
		l.printer.stray(at, r.Method+" "+r.URL.Path+" is no delivery")
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "deliveries are POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webhook.DefaultLimit))
	if err != nil {
		status, why := http.StatusBadRequest, err.Error()
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			status, why = http.StatusRequestEntityTooLarge, "it has more than "+strconv.FormatInt(large.Limit, 10)+" bytes"
		}
		l.printer.stray(at, "a body that could not be read: "+why)
		http.Error(w, "the body could not be read", status)
		return
	}
	d := l.parse(at, r.Header, body)
	l.printer.delivery(d, l.Delay)
	if !sleep.For(r.Context(), l.Delay) {
		l.printer.unanswered(l.Now(), d, errors.Is(context.Cause(r.Context()), errEnding))
		panic(http.ErrAbortHandler) // after a plain return, net/http would reply 200
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(d.answer)
	_, _ = io.WriteString(w, "vayu listen answers "+strconv.Itoa(d.answer)+", "+verification(d)+"\n") //nolint:gosec // plain text, of which the sender wrote nothing
}

// answer returns the status of the reply to a delivery.
func (l *Listener) answer(d *delivery) int {
	if l.Strict && !d.verified() {
		return http.StatusBadRequest
	}
	return l.Answer
}
