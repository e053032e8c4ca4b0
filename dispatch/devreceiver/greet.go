package devreceiver

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"vayu/schema"
)

// greet says what was made and how to try it. The account is empty when its name
// is not known.
func (l *Listener) greet(address string, made schema.WebhookShown, account string) {
	var b strings.Builder
	fmt.Fprintf(&b, "Listening on %s for the subscription %s (%s), which ends with this command: Ctrl-C.\n", address, made.ID, oneLine(made.Mode))
	fmt.Fprintln(&b, l.trust())
	shell := "any shell"
	if name, ok := strings.CutPrefix(l.Client.KeyShown, "$"); ok {
		shell = "a shell that has " + name
	}
	another := "Send yourself a test event"
	if l.Client.Test {
		another = "A test event is on its way. Send yourself another"
	}
	fmt.Fprintf(&b, "\n%s, from %s:\n\n  curl -X POST -H \"Authorization: Bearer %s\" -H \"Content-Type: application/json\" -d '{}' %s/v1/webhooks/%s/test\n\n",
		another, shell, l.Client.KeyShown, l.Client.API, made.ID)
	if fire := l.fire(account, made.Mode); fire != "" {
		fmt.Fprintf(&b, "Or let events happen, with the settings of the service:\n\n  %s\n\n", fire)
	}
	l.printer.say(b.String())
}

// alone greets somebody who has a subscription already, or makes one.
func (l *Listener) alone(address string) {
	text := fmt.Sprintf("Listening on %s; Ctrl-C ends it.\n%s\n", address, l.trust())
	if len(l.Secrets) == 0 {
		text += "Signatures are not verified: give --secret, or --key to have a subscription made."
		if l.Strict {
			text += " The answer is 400 until then, or what --answer says."
		}
		text += "\n"
	}
	l.printer.say(text)
}

// data is the data directory as a service anywhere on this machine can be told.
func (l *Listener) data() string {
	if path, err := filepath.Abs(l.Data); err == nil {
		return path
	}
	return l.Data
}

// trust says when deliveries can come.
func (l *Listener) trust() string {
	return fmt.Sprintf("A service sends to it if it was started with --webhook-local and with the same --data, %s, which holds the authority of its certificate.", oneLine(l.data()))
}

// fire is the command that lets events happen to an account; empty when one of
// its words cannot be written for a shell.
func (l *Listener) fire(account, mode string) string {
	words := []string{l.Program, "events", "fire", "--data", l.data(), "--account", account, "--mode", mode}
	if words[0] == "" {
		words[0] = "vayu"
	}
	if types := l.Client.Events; len(types) > 0 && !slices.Contains(types, schema.EventPaymentSucceeded) {
		words = append(words, "--type", string(types[0]))
	}
	for i, word := range words {
		if words[i] = quoted(word); words[i] == "" {
			return ""
		}
	}
	return strings.Join(words, " ") + " --count 3"
}

// quoted is a word as a shell reads it; empty when it is, or holds what would not
// be printed as it is.
func quoted(word string) string {
	plain := !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("/._-", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	switch {
	case word == "" || len(word) > mostQuoted || printable(word, "") != word:
		return ""
	case plain:
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// mostQuoted is the longest path of most systems, in bytes.
const mostQuoted = 4096
