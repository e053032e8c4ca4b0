package main

import (
	"strings"
	"testing"
)

// A command with only subcommands rejects unknown ones, and prints its help without
// one.
func TestUnknownSubcommandsAreRefused(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"events fir":                 "unknown command \"fir\" for \"vayu events\"\n\nDid you mean this?\n\tfire",
		"events fir --count 5":       "unknown command \"fir\" for \"vayu events\"\n\nDid you mean this?\n\tfire",
		"events --data x nothing":    `unknown command "nothing" for "vayu events"`,
		"key creat --mode test":      "unknown command \"creat\" for \"vayu key\"\n\nDid you mean this?\n\tcreate",
		"account lst":                "unknown command \"lst\" for \"vayu account\"\n\nDid you mean this?\n\tlist\n\tset",
		"audit verifi":               "unknown command \"verifi\" for \"vayu audit\"\n\nDid you mean this?\n\tverify",
		"source tset":                "unknown command \"tset\" for \"vayu source\"\n\nDid you mean this?\n\ttest",
		"completion bas":             "unknown command \"bas\" for \"vayu completion\"\n\nDid you mean this?\n\tbash",
		"reconcile a.csv --aply":     "unknown flag: --aply",
		"evnts fire":                 "unknown command \"evnts\" for \"vayu\"\n\nDid you mean this?\n\tevents",
		"events --count 5":           "unknown flag: --count",
		"events fire --cuont 5":      "unknown flag: --cuont",
		"events fire another --rate": "flag needs an argument: --rate",
	} {
		out, err := command(t.Context(), strings.Fields(line)...)
		if err == nil || strings.TrimSpace(err.Error()) != want || out != "" {
			t.Errorf("%s: got %v and %q, want %q", line, err, out, want)
		}
	}
	for _, cmd := range newRoot().Commands() {
		if !cmd.HasSubCommands() || cmd.Use != cmd.Name() { // it has its own arguments
			continue
		}
		out, err := command(t.Context(), cmd.Name())
		if err != nil || !strings.Contains(out, "Available Commands:") || !strings.Contains(out, "\n  vayu "+cmd.Name()+" [command]\n") {
			t.Errorf("%s: %v: %s", cmd.Name(), err, out)
		}
	}
}

// Only serve ends with a status of its own, because systemd and health checks interpret the status.
func TestExitStatusOfInvalidSettings(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"serve --roles nothing":            78,
		"serve --config missing.yaml":      78,
		"probe --config missing.yaml":      1,
		"source check missing/source.yaml": 1,
		"serve --unknown":                  1,
		"probe --help":                     0,
	} {
		if _, err := command(t.Context(), strings.Fields(line)...); exitStatus(err) != want {
			t.Errorf("vayu %s: status %d, want %d: %v", line, exitStatus(err), want, err)
		}
	}
}
