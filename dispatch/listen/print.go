package listen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// clock is how times are shown, to somebody who has just seen them pass.
const clock = "15:04:05.000"

// printer writes for a person. Everything that a sender chose goes through
// oneLine or show first.
type printer struct {
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
func (p *printer) delivery(d *delivery, answer int, delay time.Duration) {
	var b strings.Builder
	name, id := "no event", d.eventID
	if d.event.ID != "" {
		name, id = d.event.Type, d.event.ID
	}
	fmt.Fprintf(&b, "\n%s  %s  %s  %s\n", d.at.Format(clock), oneLine(name), oneLine(id), verdict(d))
	facts := []string{"delivery " + oneLine(d.id), "attempt " + oneLine(d.attempt), oneLine(d.mode)}
	if d.timed {
		facts = append(facts, d.since.String()+" after the event")
	}
	answered := fmt.Sprintf("answer %d", answer)
	if delay > 0 {
		answered += " in " + delay.String()
	}
	fmt.Fprintf(&b, "  %s\n", strings.Join(append(facts, answered), " · "))
	if d.event.ID != "" && d.eventID != d.event.ID {
		fmt.Fprintf(&b, "  the header names another event, %s; only the body is signed\n", oneLine(d.eventID))
	}
	if d.before != nil {
		fmt.Fprintf(&b, "  duplicate: this event came at %s (delivery %s, attempt %s)\n",
			d.before.at.Format(clock), oneLine(d.before.id), oneLine(d.before.attempt))
	}
	b.WriteString(show(d.body))
	p.write(func(t *tally) {
		t.deliveries++
		t.verified += one(!d.unchecked && d.wrong == nil)
		t.refused += one(d.wrong != nil)
		t.again += one(d.before != nil)
	}, b.String())
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

// hungUp says that nobody waited for the answer.
func (p *printer) hungUp(at time.Time, d *delivery) {
	p.write(func(t *tally) { t.hungUp++ }, fmt.Sprintf("\n%s  delivery %s, attempt %s: no answer was given; its sender hung up after %s, or this command is ending\n",
		at.Format(clock), oneLine(d.id), oneLine(d.attempt), at.Sub(d.at).Round(time.Millisecond)))
}

// stray says what came that is no delivery.
func (p *printer) stray(at time.Time, text string) {
	p.write(func(t *tally) { t.stray++ }, fmt.Sprintf("\n%s  %s\n", at.Format(clock), oneLine(text)))
}

// Write implements io.Writer for the log of the server: connections that failed.
func (p *printer) Write(line []byte) (int, error) {
	text := oneLine(strings.TrimSpace(string(line)))
	if strings.Contains(text, "error: tls:") {
		text += "\n  A sender that does not believe the authority of this receiver says so. A service believes it with --webhook-local and the same --data."
	}
	p.write(func(t *tally) { t.failed++ }, "\n"+text+"\n")
	return len(line), nil
}

// alone greets somebody who has a subscription already, or makes one.
func (p *printer) alone(address, data string, secret bool) {
	text := fmt.Sprintf("Listening on %s; Ctrl-C ends it.\nIts certificate is of the authority %s, which `vayu serve --webhook-local` believes.\n",
		address, filepath.Join(data, Folder, certificateName))
	if !secret {
		text += "Signatures are not verified: give --secret, or --key to have a subscription made.\n"
	}
	p.say(text)
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
