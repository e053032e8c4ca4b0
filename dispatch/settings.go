package dispatch

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"os"

	"vayu/dispatch/subscription"
	"vayu/internal/config"
)

// Settings say where webhooks may go and how many at once, as an operator sets
// them.
type Settings struct {
	Allow       []string `koanf:"allow" help:"networks that webhooks may go to although they are not public, at any port"`
	CA          string   `koanf:"ca" help:"PEM file of authorities that are believed beside the system's"`
	Local       bool     `koanf:"local" help:"for development: webhooks may go to this machine, and what vayu listen shows is believed"`
	Ports       []int    `koanf:"ports" help:"ports of public addresses that webhooks may go to, beside 443"`
	Concurrency int      `koanf:"concurrency" help:"attempts under way at one endpoint"`
	InFlight    int      `koanf:"in-flight" help:"attempts under way at all endpoints"`
	// Subscriptions are limits of accounts in the live world.
	Subscriptions        map[string]int64 `koanf:"subscriptions" help:"webhooks that an account of each plan may have; 100 for a plan that is not named"`
	SandboxSubscriptions int              `koanf:"sandbox-subscriptions" help:"webhooks that an account may have in the sandbox"`
	Backlog              int              `koanf:"backlog" help:"deliveries that wait for a paused or dead endpoint; the oldest beyond it fail"`
	// HostInFlight and HostUnproven are limits of each instance that dispatches.
	HostInFlight int `koanf:"host-in-flight" help:"attempts in flight at one host and port over all accounts; 0 for no limit"`
	HostUnproven int `koanf:"host-unproven" help:"attempts a minute at a host and port that acknowledged none in the last 10 minutes, over all accounts; 0 for no limit"`
}

// DefaultSettings are those of CONTRACT 6. An attempt under way holds about
// 40 KB, and a descriptor.
func DefaultSettings() Settings {
	return Settings{
		Concurrency: 8, InFlight: 2048, HostInFlight: 16, HostUnproven: 30, Backlog: 100_000, SandboxSubscriptions: 20,
		Subscriptions: map[string]int64{"free": otherPlans, "standard": 1000, "unlimited": subscription.Most},
	}
}

// otherPlans is how many webhooks an account may have whose plan Subscriptions does
// not name.
const otherPlans = 100

// Limits are the limits of subscriptions.
func (s Settings) Limits() subscription.Limits {
	l := subscription.Limits{Sandbox: s.SandboxSubscriptions, Plans: make(map[string]int, len(s.Subscriptions)), Others: otherPlans}
	for plan, most := range s.Subscriptions {
		l.Plans[plan] = int(most)
	}
	return l
}

const (
	mostConcurrency = 1000
	mostInFlight    = 100_000
	leastBacklog    = 100
	mostPort        = 65535
)

// Validate reports every fault at once, each naming its key.
func (s Settings) Validate() []error {
	var faults []error
	if _, err := config.Networks(s.Allow); err != nil {
		faults = append(faults, config.Invalid("allow", "%w", err))
	}
	for _, port := range s.Ports {
		if port < 1 || port > mostPort {
			faults = append(faults, config.Invalid("ports", "%d is no port", port))
		}
	}
	if s.Concurrency < 1 || s.Concurrency > mostConcurrency {
		faults = append(faults, config.Invalid("concurrency", "must be 1 to %d", mostConcurrency))
	}
	if s.InFlight < s.Concurrency || s.InFlight > mostInFlight {
		faults = append(faults, config.Invalid("in-flight", "must be at least the concurrency of one endpoint, and at most %d", mostInFlight))
	}
	for plan, most := range s.Subscriptions {
		if most < 1 || most > subscription.Most {
			faults = append(faults, config.Invalid("subscriptions", "%s: must be 1 to %d", plan, subscription.Most))
		}
	}
	if s.SandboxSubscriptions < 1 || s.SandboxSubscriptions > subscription.Most {
		faults = append(faults, config.Invalid("sandbox-subscriptions", "must be 1 to %d", subscription.Most))
	}
	if s.Backlog < leastBacklog {
		faults = append(faults, config.Invalid("backlog", "must be at least %d", leastBacklog))
	}
	if s.HostInFlight < 0 || s.HostInFlight > mostInFlight {
		faults = append(faults, config.Invalid("host-in-flight", "must be 0 to %d", mostInFlight))
	}
	if s.HostUnproven < 0 || s.HostUnproven > mostInFlight {
		faults = append(faults, config.Invalid("host-unproven", "must be 0 to %d", mostInFlight))
	}
	return faults
}

// thisMachine are the networks that Local allows.
var thisMachine = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// Networks is what is allowed beside public addresses.
func (s Settings) Networks() ([]netip.Prefix, error) {
	allow, err := config.Networks(s.Allow)
	if s.Local {
		allow = append(allow, thisMachine...)
	}
	return allow, err
}

// Roots are the authorities that receivers may have their certificates from:
// the system's and those in files; nil for the system's alone.
func Roots(files ...string) (*x509.CertPool, error) {
	if len(files) == 0 {
		return nil, nil //nolint:nilnil // as x509 has it: nil means the system's
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // a machine without any
		pool = x509.NewCertPool()
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading the authorities of webhooks: %w", err)
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("reading the authorities of webhooks: %s holds no certificate in PEM", file)
		}
	}
	return pool, nil
}
