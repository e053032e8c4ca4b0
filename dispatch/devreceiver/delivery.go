package devreceiver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"vayu/dispatch/webhook"
	"vayu/internal/sleep"
	"vayu/schema"
)

// ServeHTTP implements http.Handler. It verifies and prints a delivery, and replies.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := l.Now()
	if r.Method != http.MethodPost {
		l.printf("%s  %s %s is no delivery\n", at.Format(clock), oneLine(r.Method), oneLine(r.URL.Path))
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "deliveries are POST", http.StatusMethodNotAllowed)
		return
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		l.printf("%s  a body that could not be read: %s\n", at.Format(clock), oneLine(err.Error()))
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	answer, verified := l.Answer, "verified"
	err := webhook.Verify(body.Bytes(), strings.Join(r.Header.Values(webhook.Header), ","), at, l.Secrets...)
	if err != nil {
		verified = "NOT VERIFIED: " + oneLine(err.Error())
		if l.Strict {
			answer = http.StatusBadRequest
		}
	}
	if errors.Is(err, webhook.ErrNoSecret) {
		verified = "not verified: no secret was given"
	}
	var event schema.Envelope
	duplicate := false
	if json.Unmarshal(body.Bytes(), &event) == nil && err == nil { // only if verified: a forged event could mark the real one as a duplicate
		duplicate, _ = l.seen.ContainsOrAdd(event.ID, struct{}{})
	}
	l.print(at, r.Header, event, body.Bytes(), fmt.Sprintf("%s  answer %d", verified, answer), duplicate)
	if !sleep.For(r.Context(), l.Delay) {
		l.printf("%s  attempt %s: no answer was sent\n", l.Now().Format(clock), oneLine(r.Header.Get("X-SERVICE-Attempt")))
		panic(http.ErrAbortHandler) // after a plain return, net/http would reply 200
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(answer)
	_, _ = fmt.Fprintf(w, "vayu listen answers %d, %s\n", answer, verified)
}

const (
	clock    = "15:04:05.000"
	maxBody  = 1 << 20  // bytes of a body that are read, far more than any event has
	maxShown = 64 << 10 // bytes of a body that are printed
)

// print prints a delivery: one line, followed by the body unless Brief is set.
func (l *Listener) print(at time.Time, header http.Header, event schema.Envelope, body []byte, result string, duplicate bool) {
	mode := header.Get("X-SERVICE-Mode")
	if mode == "" {
		mode = "live"
	}
	id := event.ID
	if id == "" {
		id = "no event"
	}
	line := fmt.Sprintf("%s  %s  %s  %s  %s  attempt %s  %s", at.Format(clock), oneLine(string(event.Type)), oneLine(id), oneLine(mode),
		oneLine(header.Get("X-SERVICE-Delivery-Id")), oneLine(header.Get("X-SERVICE-Attempt")), result)
	if l.Delay > 0 {
		line += " in " + l.Delay.String()
	}
	if duplicate {
		line += "  duplicate"
	}
	if l.Brief {
		l.printf("%s\n", line)
		return
	}
	shown := body[:min(len(body), maxShown)]
	var pretty bytes.Buffer
	if json.Indent(&pretty, shown, "", "  ") == nil {
		shown = pretty.Bytes()[:min(pretty.Len(), maxShown)]
	}
	l.printf("%s\n%s\n\n", line, printable(string(shown)))
}

func (l *Listener) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.Out, format, args...)
}

// connectionLog prints errors of connections until the listener stops.
type connectionLog struct{ *Listener }

// Write implements io.Writer. The HTTP server logs to it.
func (c connectionLog) Write(line []byte) (int, error) {
	if !c.ended.Load() {
		c.printf("%s  %s; was the service started with --webhook-local and the same --data?\n", c.Now().Format(clock), oneLine(string(line)))
	}
	return len(line), nil
}

// oneLine returns an untrusted text as one short line.
func oneLine(text string) string {
	const most = 200
	return strings.TrimSpace(strings.ReplaceAll(printable(fmt.Sprintf("%.*s", most, text)), "\n", " "))
}

// printable replaces the characters that could control a terminal or reorder text.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) || c == '\n' {
			return c
		}
		return unicode.ReplacementChar
	}, text)
}
