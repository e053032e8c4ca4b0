package devreceiver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// clock is how times are shown, to somebody who has just seen them pass.
const clock = "15:04:05.000"

// printer writes for a person. Everything that a sender chose goes through
// oneLine or show first.
type printer struct {
	now   func() time.Time
	brief bool
	ended atomic.Bool

	mu  sync.Mutex
	out io.Writer
	all tally
}

// tally counts what came.
type tally struct{ deliveries, verified, refused, again, hungUp, stray, failed int }

// write prints a text whole, and counts it.
func (p *printer) write(count func(*tally), text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	count(&p.all)
	_, _ = io.WriteString(p.out, text)
}

func (p *printer) say(text string) { p.write(func(*tally) {}, text) }

// delivery prints a delivery and the answer that it will get.
func (p *printer) delivery(d *delivery, delay time.Duration) {
	answer := fmt.Sprintf("answer %d", d.answer)
	if delay > 0 {
		answer += " in " + delay.String()
	}
	text := whole(d, answer)
	if p.brief {
		text = brief(d, answer)
	}
	p.write(func(t *tally) {
		t.deliveries++
		t.verified += one(d.verified())
		t.refused += one(d.wrong != nil)
		t.again += one(d.before != nil)
	}, text)
}

// named is what a delivery brings: the type and the id of its event.
func named(d *delivery) string {
	if d.event.ID == "" {
		return "no event  " + oneLine(d.eventID)
	}
	return oneLine(d.event.Type) + "  " + oneLine(d.event.ID)
}

// brief is a delivery on one line.
func brief(d *delivery, answer string) string {
	line := []string{d.at.Format(clock), named(d), "attempt " + oneLine(d.attempt), verdict(d), answer}
	if d.before != nil {
		line = append(line, "duplicate")
	}
	return strings.Join(line, "  ") + "\n"
}

// whole is all that a delivery is, body included.
func whole(d *delivery, answer string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s  %s  %s\n", d.at.Format(clock), named(d), verdict(d))
	facts := []string{"delivery " + oneLine(d.id), "attempt " + oneLine(d.attempt), oneLine(d.mode)}
	if d.timed {
		facts = append(facts, d.since.String()+" after the event")
	}
	fmt.Fprintf(&b, "  %s\n", strings.Join(append(facts, answer), " · "))
	if d.event.ID != "" && d.eventID != d.event.ID {
		fmt.Fprintf(&b, "  the header names another event, %s; only the body is signed\n", oneLine(d.eventID))
	}
	if d.before != nil {
		fmt.Fprintf(&b, "  duplicate: this event came at %s (delivery %s, attempt %s)\n",
			d.before.at.Format(clock), oneLine(d.before.id), oneLine(d.before.attempt))
	}
	b.WriteString(show(d.body))
	return b.String()
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func verdict(d *delivery) string {
	switch {
	case d.unchecked:
		return "not verified: no secret was given"
	case d.wrong != nil:
		return "NOT VERIFIED: " + oneLine(d.wrong.Error())
	}
	return "verified"
}

// unanswered says why a delivery got no answer.
func (p *printer) unanswered(at time.Time, d *delivery, ending bool) {
	why := "its sender hung up after " + at.Sub(d.at).Round(time.Millisecond).String()
	if ending {
		why = "this command is ending"
	}
	p.line(func(t *tally) { t.hungUp++ }, at, fmt.Sprintf("delivery %s, attempt %s: no answer was given; %s", oneLine(d.id), oneLine(d.attempt), why))
}

// stray says what came that is no delivery.
func (p *printer) stray(at time.Time, text string) {
	p.line(func(t *tally) { t.stray++ }, at, oneLine(text))
}

// line prints a line with its time.
func (p *printer) line(count func(*tally), at time.Time, text string) {
	gap := "\n"
	if p.brief {
		gap = ""
	}
	p.write(count, fmt.Sprintf("%s%s  %s\n", gap, at.Format(clock), text))
}

// ending makes connections that break from now on no news: it is the server that
// breaks them.
func (p *printer) ending() { p.ended.Store(true) }

// Write implements io.Writer for the log of the server: connections that failed.
func (p *printer) Write(line []byte) (int, error) {
	if !p.ended.Load() {
		p.line(func(t *tally) { t.failed++ }, p.now(), failed(strings.TrimSpace(string(line))))
	}
	return len(line), nil
}

// failed is what the log of the server says of a connection, for a person.
func failed(text string) string {
	about, ok := strings.CutPrefix(text, "http: TLS handshake error from ")
	if !ok {
		return oneLine(text)
	}
	who, why, _ := strings.Cut(about, ": ")
	const believes = "believe the certificate of this receiver; a service does that was started with --webhook-local and the same --data"
	switch {
	case strings.HasPrefix(why, "remote error: tls:") && strings.Contains(why, "certificate"):
		return oneLine(who) + " does not " + believes
	case strings.Contains(why, "bad record MAC"): // what OpenSSL says of TLS 1.3, it says in clear
		return oneLine(who) + " seems not to " + believes
	}
	return "a connection from " + oneLine(who) + " failed before it brought anything: " + oneLine(why)
}

// end says what there was.
func (p *printer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.out, "\n%d deliveries: %d verified, %d not, %d duplicates, %d without an answer; %d other requests, %d failed connections\n",
		p.all.deliveries, p.all.verified, p.all.refused, p.all.again, p.all.hungUp, p.all.stray, p.all.failed)
}

const (
	// mostShown is how much of a body is printed, in bytes.
	mostShown = 64 << 10
	// mostDeep is how deep JSON may be to be indented: as deep as the service
	// takes it. Indenting grows with the square of the depth.
	mostDeep = 32
)

// show is a body for a person, with a line feed at its end.
func show(body []byte) string {
	var pretty bytes.Buffer
	switch {
	case len(body) == 0:
		return "(no body)\n"
	case len(body) > mostShown:
		return fmt.Sprintf("%s\n… and %d bytes more\n", printable(string(body[:mostShown]), "\n\t"), len(body)-mostShown)
	case depth(body) <= mostDeep && json.Indent(&pretty, body, "", "  ") == nil:
		return printable(pretty.String(), "\n") + "\n"
	}
	return printable(string(body), "\n\t") + "\n"
}

// depth is no less than how deep JSON is.
func depth(body []byte) int {
	deepest, now := 0, 0
	for _, c := range body {
		switch c {
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now = max(now-1, 0)
		}
	}
	return deepest
}
