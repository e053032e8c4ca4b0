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

// clock is the format of times; the date is omitted.
const clock = "15:04:05.000"

// printer prints text for a person. oneLine and show escape all text that comes from senders.
type printer struct {
	now   func() time.Time
	brief bool
	ended atomic.Bool

	mu     sync.Mutex
	out    io.Writer
	totals counts
}

// counts are the totals of a run.
type counts struct{ deliveries, verified, refused, duplicates, unanswered, stray, failed int }

// write prints a text atomically and adds one to each of the given totals.
func (p *printer) write(text string, totals ...*int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range totals {
		*n++
	}
	_, _ = io.WriteString(p.out, text)
}

// delivery prints a delivery and its reply.
func (p *printer) delivery(d *delivery, delay time.Duration) {
	answer := fmt.Sprintf("answer %d", d.answer)
	if delay > 0 {
		answer += " in " + delay.String()
	}
	text := whole(d, answer)
	if p.brief {
		text = brief(d, answer)
	}
	totals := []*int{&p.totals.deliveries}
	if d.verified() {
		totals = append(totals, &p.totals.verified)
	}
	if d.wrong != nil {
		totals = append(totals, &p.totals.refused)
	}
	if d.before != nil {
		totals = append(totals, &p.totals.duplicates)
	}
	p.write(text, totals...)
}

// named returns the type and the id of a delivery's event in printable form.
func named(d *delivery) string {
	if d.event.ID == "" {
		return "no event  " + oneLine(d.eventID)
	}
	return oneLine(d.event.Type) + "  " + oneLine(d.event.ID)
}

// brief returns a delivery as one line.
func brief(d *delivery, answer string) string {
	line := []string{d.at.Format(clock), named(d), "attempt " + oneLine(d.attempt), verification(d), answer}
	if d.before != nil {
		line = append(line, "duplicate")
	}
	return strings.Join(line, "  ") + "\n"
}

// whole returns a delivery with its body.
func whole(d *delivery, answer string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s  %s  %s\n", d.at.Format(clock), named(d), verification(d))
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

func verification(d *delivery) string {
	switch {
	case d.unchecked:
		return "not verified: no secret was given"
	case d.wrong != nil:
		return "NOT VERIFIED: " + oneLine(d.wrong.Error())
	}
	return "verified"
}

// unanswered prints why a delivery got no reply.
func (p *printer) unanswered(at time.Time, d *delivery, ending bool) {
	why := "its sender hung up after " + at.Sub(d.at).Round(time.Millisecond).String()
	if ending {
		why = "this command is ending"
	}
	p.line(&p.totals.unanswered, at, fmt.Sprintf("delivery %s, attempt %s: no answer was given; %s", oneLine(d.id), oneLine(d.attempt), why))
}

// stray prints a request that is not a delivery, or whose body could not be read.
func (p *printer) stray(at time.Time, text string) {
	p.line(&p.totals.stray, at, oneLine(text))
}

// line prints a line with its time.
func (p *printer) line(total *int, at time.Time, text string) {
	gap := "\n"
	if p.brief {
		gap = ""
	}
	p.write(fmt.Sprintf("%s%s  %s\n", gap, at.Format(clock), text), total)
}

// ending suppresses errors of connections that the server closes from now on.
func (p *printer) ending() { p.ended.Store(true) }

// Write implements io.Writer for the server's log of failed connections.
func (p *printer) Write(line []byte) (int, error) {
	if !p.ended.Load() {
		p.line(&p.totals.failed, p.now(), failed(strings.TrimSpace(string(line))))
	}
	return len(line), nil
}

// failed explains a message of the server's log.
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
	case strings.Contains(why, "bad record MAC"): // caused by the unencrypted alert that OpenSSL sends in TLS 1.3
		return oneLine(who) + " seems not to " + believes
	}
	return "a connection from " + oneLine(who) + " failed before it brought anything: " + oneLine(why)
}

// end prints the totals.
func (p *printer) end() {
	p.mu.Lock()
	t := p.totals // a copy, because an aborted reply may still be counted
	p.mu.Unlock()
	p.write(fmt.Sprintf("\n%d deliveries: %d verified, %d not, %d duplicates, %d without an answer; %d other requests, %d failed connections\n",
		t.deliveries, t.verified, t.refused, t.duplicates, t.unanswered, t.stray, t.failed))
}

const (
	// maxShown is how many bytes of a body are printed.
	maxShown = 64 << 10
	// maxDepth is the maximum depth of JSON that is printed with indentation. The service has
	// the same limit. The size of the indentation grows with the square of the depth.
	maxDepth = 32
)

// show returns a body for a person, with a line feed at the end.
func show(body []byte) string {
	var pretty bytes.Buffer
	switch {
	case len(body) == 0:
		return "(no body)\n"
	case len(body) > maxShown:
		return fmt.Sprintf("%s\n… and %d bytes more\n", printable(string(body[:maxShown]), "\n\t"), len(body)-maxShown)
	case depth(body) <= maxDepth && json.Indent(&pretty, body, "", "  ") == nil:
		return printable(pretty.String(), "\n") + "\n"
	}
	return printable(string(body), "\n\t") + "\n"
}

// depth returns the depth of JSON.
func depth(body []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}', c == ']':
			now--
		}
	}
	return deepest
}
