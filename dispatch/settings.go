package dispatch

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"os"

	"vayu/dispatch/subscription"
	"vayu/internal/config"
)

// Settings are the operator's limits and permitted destinations of webhooks.
type Settings struct {
	Allow       []string `yaml:"allow" help:"private networks that webhooks can target, at any port"`
	CA          string   `yaml:"ca" help:"PEM file of certificate authorities trusted besides the system's"`
	Local       bool     `yaml:"local" help:"for development: allow webhooks to this machine, and trust the certificate of vayu listen"`
	Ports       []int    `yaml:"ports" help:"ports of public addresses that webhooks may be sent to, besides 443"`
	Concurrency int      `yaml:"concurrency" help:"attempts in flight at one endpoint"`
	InFlight    int      `yaml:"in-flight" help:"attempts in flight at all endpoints"`
	// Subscriptions are the limits of accounts in the live world, by plan.
	Subscriptions        map[string]int64 `yaml:"subscriptions" help:"webhooks that an account of each plan may have; 100 for a plan that is not named"`
	SandboxSubscriptions int              `yaml:"sandbox-subscriptions" help:"webhooks that an account may have in the sandbox"`
	Backlog              int              `yaml:"backlog" help:"deliveries that wait for a paused or dead endpoint; the oldest beyond it fail"`
	// HostInFlight and HostUnproven are limits of each dispatching instance.
	HostInFlight int `yaml:"host-in-flight" help:"attempts in flight at one host and port over all accounts; 0 for no limit"`
	HostUnproven int `yaml:"host-unproven" help:"attempts a minute at a host and port that acknowledged none in the last 10 minutes, over all accounts; 0 for no limit"`
}

// DefaultSettings returns the documented defaults. The default InFlight needs about 80 MB and 2,048 file descriptors.
func DefaultSettings() Settings {
	return Settings{
		Concurrency: 8, InFlight: 2048, HostInFlight: 16, HostUnproven: 30, Backlog: 100_000, SandboxSubscriptions: 20,
		Subscriptions: map[string]int64{"free": otherPlans, "standard": 1000, "unlimited": subscription.Most},
	}
}

// otherPlans is how many webhooks an account may have if its plan is not in Subscriptions.
const otherPlans = 100

// Limits returns how many subscriptions an account may have, by plan and in the sandbox.
func (s Settings) Limits() subscription.Limits {
	l := subscription.Limits{Sandbox: s.SandboxSubscriptions, Plans: make(map[string]int, len(s.Subscriptions)), Others: otherPlans}
	for plan, most := range s.Subscriptions {
		l.Plans[plan] = int(most)
	}
	return l
}

const (
	maxConcurrency = 1000
	maxInFlight    = 100_000
	minBacklog     = 100
	maxPort        = 65535
)

// Validate returns all faults, each with the key of its setting.
func (s Settings) Validate() []error {
	var f config.Faults
	_, err := config.Networks(s.Allow)
	f.CheckError(err, "allow")
	for _, port := range s.Ports {
		f.Check(port >= 1 && port <= maxPort, "ports", "%d is not a port", port)
	}
	f.Check(s.Concurrency >= 1 && s.Concurrency <= maxConcurrency, "concurrency", "must be 1 to %d", maxConcurrency)
	f.Check(s.InFlight >= s.Concurrency && s.InFlight <= maxInFlight, "in-flight",
		"must be at least the concurrency of one endpoint, and at most %d", maxInFlight)
	for plan, most := range s.Subscriptions {
		f.Check(most >= 1 && most <= subscription.Most, "subscriptions", "%s: must be 1 to %d", plan, subscription.Most)
	}
	f.Check(s.SandboxSubscriptions >= 1 && s.SandboxSubscriptions <= subscription.Most, "sandbox-subscriptions", "must be 1 to %d", subscription.Most)
	f.Check(s.Backlog >= minBacklog, "backlog", "must be at least %d", minBacklog)
	f.Check(s.HostInFlight >= 0 && s.HostInFlight <= maxInFlight, "host-in-flight", "must be 0 to %d", maxInFlight)
	f.Check(s.HostUnproven >= 0 && s.HostUnproven <= maxInFlight, "host-unproven", "must be 0 to %d", maxInFlight)
	return f
}

// thisMachine are the loopback networks that Local allows.
var thisMachine = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// Networks returns the networks to which webhooks may be sent although their addresses are not public.
func (s Settings) Networks() ([]netip.Prefix, error) {
	allow, err := config.Networks(s.Allow)
	if s.Local {
		allow = append(allow, thisMachine...)
	}
	return allow, err
}

// Roots returns the trusted certificate authorities: those of the system and those in the given files. Without files
// it returns nil, for which crypto/x509 uses the authorities of the system.
func Roots(files ...string) (*x509.CertPool, error) {
	if len(files) == 0 {
		return nil, nil //nolint:nilnil // as x509 has it: nil means the system's
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // the system has no list of authorities
		pool = x509.NewCertPool()
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading certificate authorities of webhooks: %w", err)
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("reading certificate authorities of webhooks: %s: no PEM certificate", file)
		}
	}
	return pool, nil
}
