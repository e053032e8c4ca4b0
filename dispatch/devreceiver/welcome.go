package devreceiver

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"vayu/schema"
)

// greet prints the subscription and how to test it. The parameter account is the name of the
// account; "" for an unknown name.
func (l *Listener) greet(address string, made schema.WebhookReply, account string) {
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
	l.printer.write(b.String())
}

// greetUnsubscribed prints the welcome text without a subscription.
func (l *Listener) greetUnsubscribed(address string) {
	text := fmt.Sprintf("Listening on %s; Ctrl-C ends it.\n%s\n", address, l.trust())
	if len(l.Secrets) == 0 {
		text += "Signatures are not verified: give --secret, or --key to have a subscription made."
		if l.Strict {
			text += " The answer is 400 until then, or what --answer says."
		}
		text += "\n"
	}
	l.printer.write(text)
}

// trust returns a text about the options with which a service can send to this receiver.
func (l *Listener) trust() string {
	return fmt.Sprintf("A service sends to it if it was started with --webhook-local and with the same --data, %s, which holds the authority of its certificate.", oneLine(l.Data))
}

// fire returns the shell command that fires events for an account; "" if an argument of the
// command cannot be quoted.
func (l *Listener) fire(account, mode string) string {
	args := []string{l.Program, "events", "fire", "--data", l.Data, "--account", account, "--mode", mode}
	if args[0] == "" {
		args[0] = "vayu"
	}
	if types := l.Client.Events; len(types) > 0 && !slices.Contains(types, schema.EventPaymentSucceeded) {
		args = append(args, "--type", string(types[0]))
	}
	for i, arg := range args {
		if args[i] = quoted(arg); args[i] == "" {
			return ""
		}
	}
	return strings.Join(args, " ") + " --count 3"
}

// plainArg matches arguments that need no quotes in a shell.
var plainArg = regexp.MustCompile(`^[/._0-9A-Za-z-]+$`)

// quoted quotes an argument for a shell. It returns "" for an empty or unprintable
// argument.
func quoted(arg string) string {
	switch {
	case arg == "" || printable(arg, "") != arg:
		return ""
	case plainArg.MatchString(arg):
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
