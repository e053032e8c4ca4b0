// Command soak runs a simulated week of the service in an hour (docs/operations/soak.md). .ci/soak prepares its folder.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// Soak is a run.
type Soak struct {
	*Service
	Report
	hours, events int
	each          time.Duration // real time of a window, at least
	programs      []string      // paths of the first program and of those that replace it in upgrades

	inbox     *Inbox
	load      *Load
	state     *sql.DB
	samples   []Sample
	upgraded  int // window of the last upgrade
	fired     int
	webhooks  map[string]string // id by path
	old       *Key              // key before the last rotation; nil once it was found invalid
	rotatedAt int
	limited   Key         // a live key of an account with a quota
	quota     map[int]int // replies to the key `limited`, by status; the status is negative after the change of the month
	stale     int
	errors    int       // failed requests so far
	example   string    // error of one of the failed requests
	month     time.Time // the change of the month
	backups   []string
}

func main() {
	s := &Soak{Service: &Service{clock: &Clock{}}, webhooks: map[string]string{}, quota: map[int]int{}}
	dir := flag.String("dir", "", "folder of the run")
	programs := flag.String("programs", "", "the first program and those of the two upgrades, separated by commas")
	flag.IntVar(&s.hours, "hours", 168, "simulated hours")
	flag.IntVar(&s.events, "events", 1_000_000, "events in all")
	flag.DurationVar(&s.each, "each", 20*time.Second, "real time of a simulated hour, at least")
	flag.Parse()
	s.dir, s.programs = *dir, strings.Split(*programs, ",")
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := s.run(ctx)
	_ = s.Stop()
	if err != nil {
		fmt.Println("FAILED", err)
	}
	if err != nil || s.failed > 0 {
		os.Exit(1)
	}
	fmt.Println("the soak has passed")
}

func (s *Soak) run(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return fmt.Errorf("preparing: %w", err)
	}
	loading, end := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { s.load.Run(loading); return nil })
	began := time.Now()
	err := s.windows(ctx)
	end()
	_ = g.Wait()
	if err != nil {
		return err
	}
	fmt.Printf("\n%d windows in %s of real time\n", s.hours, time.Since(began).Round(time.Second))
	return s.prove(ctx)
}

const settings = `listen: %s
internal-listen: %s
sources: [none]
tls: {cert: service.pem, key: service.key}
access: {rate: 10000, burst: 10000, money-rate: 10000, money-burst: 10000}
webhook: {ca: issuer.pem, allow: [127.0.0.0/8]}
recharge: {mask-after: 24h}
verify: {keep: 24h}
engine:
  library: clock/engine.so
  port: 0
  config: engine.xml
  storage: {keep-readings: 168h, keep-hours: 192h}
source: {simulator: {history: 72h}}
`

// engineSettings declares the folder of the clock's library as a disk, because the engine may read only its disks.
const engineSettings = `<clickhouse><storage_configuration><disks><soak><type>local</type><path>%s/clock/</path></soak></disks></storage_configuration></clickhouse>
`

func (s *Soak) prepare(ctx context.Context) (err error) {
	if s.clock.file, err = os.OpenFile(filepath.Join(s.dir, "clock/offset"), os.O_RDWR, 0); err != nil {
		return err
	}
	// Choose the start of the simulated time so that the month changes after a third of the run.
	now := time.Now().UTC()
	part := time.Duration(s.hours) * time.Hour / 3
	for s.month = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC); s.month.Add(-part).Before(now.Add(48 * time.Hour)); {
		s.month = s.month.AddDate(0, 1, 0)
	}
	if err := s.clock.Leap(s.month.Add(-part).Truncate(time.Hour).Add(-20 * time.Minute)); err != nil {
		return err
	}
	listen, internal := freeAddress(), freeAddress()
	s.api, s.internal, s.program = "https://"+listen, "http://"+internal, s.programs[0]
	if err := errors.Join(os.WriteFile(filepath.Join(s.dir, "vayu.yaml"), fmt.Appendf(nil, settings, listen, internal), 0o600),
		os.WriteFile(filepath.Join(s.dir, "engine.xml"), fmt.Appendf(nil, engineSettings, s.dir), 0o600),
		s.Certify("issuer"), s.Certify("service"), s.Certify("receiver")); err != nil {
		return err
	}
	issuer, err := os.ReadFile(filepath.Join(s.dir, "issuer.pem"))
	if err != nil {
		return err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(issuer)
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, TLSClientConfig: &tls.Config{RootCAs: trusted, Time: s.clock.Now}}}

	if s.limited, err = s.newKey(ctx, "live", "limited", "free"); err != nil {
		return err
	}
	first, err := s.newKey(ctx, "test", "soak", "unlimited", "--scopes", "all")
	if err != nil {
		return err
	}
	s.key.Store(&first)
	if _, err := s.Vayu(ctx, nil, "wallet", "credit", "--account", "soak", "--mode", "sandbox", "--amount", "1000000", "--note", "UTR-1"); err != nil {
		return err
	}
	if err := s.Start(ctx); err != nil {
		return err
	}
	if s.state, err = sql.Open("sqlite", "file:"+filepath.Join(s.dir, "data/state.db")+"?mode=ro&_pragma=busy_timeout(10000)"); err != nil {
		return err
	}
	var keys struct{ Data []struct{ ID, Prefix string } }
	if err := s.Call(ctx, http.MethodGet, "/v1/keys", "", &keys); err != nil {
		return err
	}
	for _, k := range keys.Data {
		if strings.HasPrefix(first.Secret, k.Prefix) {
			s.key.Store(&Key{k.ID, first.Secret})
		}
	}
	if err := s.subscribe(ctx); err != nil {
		return err
	}
	var cities struct{ Data []struct{ Name string } }
	if err := eventually(ctx, 5*time.Minute, func() error { // wait until the simulator's history is rolled up
		day := s.clock.Now().Add(-24 * time.Hour).Format(time.DateOnly)
		return errors.Join(s.Call(ctx, http.MethodGet, "/v1/aqi?city=Delhi", "", nil), s.Call(ctx, http.MethodGet, "/v1/aqi?city=Delhi&date="+day, "", nil))
	}); err != nil {
		return err
	}
	if err := s.Call(ctx, http.MethodGet, "/v1/cities?limit=50", "", &cities); err != nil {
		return err
	}
	var names []string
	for _, c := range cities.Data {
		names = append(names, c.Name)
	}
	s.load = &Load{flows: flows(s.Service, names)}
	return nil
}

func (s *Soak) newKey(ctx context.Context, mode, account, plan string, args ...string) (Key, error) {
	secret, err := s.Vayu(ctx, nil, append([]string{"key", "create", "--quiet", "--mode", mode, "--account", account, "--plan", plan}, args...)...)
	return Key{Secret: secret}, err
}

func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return ""
	}
	defer l.Close()
	return l.Addr().String()
}

// subscribe starts the receiver, and creates two webhooks.
func (s *Soak) subscribe(ctx context.Context) error {
	s.inbox = &Inbox{clock: s.clock, secrets: map[string][]string{}, got: map[string]int{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.ServeTLS(l, s.inbox, filepath.Join(s.dir, "receiver.pem"), filepath.Join(s.dir, "receiver.key")) //nolint:errcheck // until the end
	for path, types := range map[string]string{
		"/fired": `"payment.succeeded"`,
		"/money": `"recharge.completed","recharge.failed","recharge.pending","recharge.refunded","verification.completed","verification.failed"`,
	} {
		var made struct{ ID, Secret string }
		if err := s.Call(ctx, http.MethodPost, "/v1/webhooks", fmt.Sprintf(`{"url":"https://%s%s","events":[%s]}`, l.Addr(), path, types), &made); err != nil {
			return err
		}
		s.webhooks[path] = made.ID
		s.inbox.Trust(path, made.Secret)
	}
	return nil
}

// windows runs one window for each simulated hour. The window is at half past the hour in UTC, when Indian hours begin.
func (s *Soak) windows(ctx context.Context) error {
	fmt.Printf("from %s, the month changes at %s\n\n", s.clock.Now().Format(time.DateTime), s.month.Format(time.DateTime))
	fmt.Println("window time (UTC)      took   RSS  engine   fd engine  gor thr    data   state   events dup bad  event rows delivery readings parts retries errors")
	early := make(chan os.Signal, 1)
	signal.Notify(early, syscall.SIGUSR1)
	for w := 1; w <= s.hours; w++ {
		began := time.Now()
		if len(early) > 0 { // SIGUSR1 ends the windows early; the final checks follow
			s.hours = w - 1
			break
		}
		hour := s.clock.Now().Add(30 * time.Minute).Truncate(time.Hour).Add(30 * time.Minute)
		if err := s.leap(ctx, w, hour.Add(-2*time.Second)); err != nil {
			return fmt.Errorf("window %d: %w", w, err)
		}
		if err := s.window(ctx, w, hour, began); err != nil {
			return fmt.Errorf("window %d: %w", w, err)
		}
	}
	return nil
}

// leap moves the clock while no request is in flight. In two windows of the run, it then upgrades the service.
func (s *Soak) leap(ctx context.Context, w int, to time.Time) error {
	s.load.gate.Lock()
	defer s.load.gate.Unlock()
	// A leap ends the engine's queries in flight, because it exceeds their time limits. So leap first waits for these
	// queries, except once a day. Otherwise each window would wait until a roll-up is retried.
	if w%24 != 5 {
		quiet := 0
		_ = eventually(ctx, 30*time.Second, func() error {
			if text, err := s.Query(ctx, "default", "SELECT count() FROM system.processes"); err != nil || strings.TrimSpace(text) != "1" {
				quiet = 0
			}
			if quiet++; quiet < 10 {
				return errors.New("queries run")
			}
			return nil
		})
	}
	if err := s.clock.Leap(to); err != nil {
		return err
	}
	s.client.CloseIdleConnections() // the service closes them, too
	http.DefaultClient.CloseIdleConnections()
	for i, at := range []int{max(s.hours/8, 1), max(s.hours/4, 2)} {
		if w == at {
			if err := s.Upgrade(ctx, s.programs[i+1]); err != nil {
				return err
			}
			s.upgraded = w
			fmt.Printf("       upgrade %d to %s, with a new encryption key\n", i+1, filepath.Base(s.program))
		}
	}
	return nil
}

func (s *Soak) window(ctx context.Context, w int, hour, began time.Time) error {
	var g errgroup.Group
	count := s.events*w/s.hours - s.fired
	s.fired += count
	g.Go(func() error {
		_, err := s.Vayu(ctx, nil, "events", "fire", "--account", "soak", "--mode", "sandbox", "--count", fmt.Sprint(count),
			"--rate", fmt.Sprint(float64(count)/(0.7*s.each.Seconds())))
		return err
	})
	g.Go(func() error { return s.daily(ctx, w) })
	if status, err := s.CallAs(ctx, s.limited.Secret, http.MethodGet, "/v1/cities?limit=1", "", nil); w == 1 {
		for range 1100 {
			if status, err = s.CallAs(ctx, s.limited.Secret, http.MethodGet, "/v1/cities?limit=1", "", nil); status == http.StatusTooManyRequests {
				break
			}
		}
	} else if status == 0 {
		return err
	} else if hour.Before(s.month) {
		s.quota[status]++
	} else {
		s.quota[-status]++
	}
	if err := g.Wait(); err != nil {
		return err
	}
	// Wait until the hour that has just ended is served, and no attempted delivery waits for a retry.
	err := eventually(ctx, 2*time.Minute, func() error {
		var air struct{ Updated time.Time }
		var waiting int
		if err := s.Call(ctx, http.MethodGet, "/v1/aqi?city=Delhi", "", &air); err != nil {
			return err
		}
		if err := s.state.QueryRow("SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM delivery WHERE state = 'waiting' AND attempts > 0)").Scan(&waiting); err != nil {
			return err
		}
		if air.Updated.Before(hour) || waiting > 0 {
			return fmt.Errorf("Delhi is of %s, and %d deliveries wait", air.Updated.Format(time.DateTime), waiting)
		}
		return nil
	})
	if err != nil {
		s.stale++
		fmt.Println("       after two minutes:", err)
	}
	if err := pause(ctx, s.each-time.Since(began)); err != nil {
		return err
	}
	x, err := s.Sample(ctx, s.state)
	if err != nil {
		return err
	}
	received, repeated, invalid := s.inbox.Counts()
	x.Window, x.Took, x.Events = w, time.Since(began), float64(received)
	retries, failures := 0, 0
	for _, f := range s.load.flows {
		sent, again, failed, example := f.Counts()
		if failed > 0 {
			s.example = example
		}
		x.Requests, retries, failures = x.Requests+float64(sent), retries+again, failures+failed
	}
	if failures > s.errors {
		fmt.Printf("       %d requests failed, such as %.300s\n", failures-s.errors, s.example)
	}
	s.errors, s.samples = failures, append(s.samples, x)
	fmt.Printf("%6d %s %5.1f %5.0f %7.0f %4.0f %6.0f %4.0f %3.0f %7.0f %7.0f %8d %3d %3d %11.0f %8.0f %8.0f %5.0f %7d %6d\n", w, s.clock.Now().Format("01-02 15:04:05"), x.Took.Seconds(),
		x.Memory, x.EngineMemory, x.Files, x.EngineFiles, x.Goroutines, x.Threads, x.Data, x.State, received, repeated, invalid, x.Rows["event"], x.Rows["delivery"], x.Readings, x.Parts, retries, failures)
	return nil
}

// daily rotates the keys and makes a backup, each once a day. Twice in the run, it replaces the certificate.
func (s *Soak) daily(ctx context.Context, w int) error {
	if s.old != nil && w >= s.rotatedAt+2 {
		if status, _ := s.CallAs(ctx, s.old.Secret, http.MethodGet, "/v1/account", "", nil); status != http.StatusUnauthorized {
			return fmt.Errorf("a rotated key is valid after its grace: status %d", status)
		}
		s.old = nil
	}
	if w == s.hours/3 || w == 2*s.hours/3 {
		if err := s.Certify("service"); err != nil {
			return err
		}
		want := s.serial
		if err := eventually(ctx, time.Minute, func() error {
			if got, err := s.Serial(); err != nil || got != want {
				return fmt.Errorf("the certificate is number %d, want %d: %w", got, want, err)
			}
			return nil
		}); err != nil {
			return err
		}
		s.client.CloseIdleConnections()
		fmt.Printf("       the service has reloaded its certificate\n")
	}
	switch day := min(24, s.hours/2); w % day {
	case 1 % day:
		var made struct {
			Key  string
			Data struct{ ID string }
		}
		old := s.key.Load()
		if err := s.Call(ctx, http.MethodPost, "/v1/keys/"+old.ID+"/rotate", `{"grace_seconds":3600}`, &made); err != nil {
			return err
		}
		s.old, s.rotatedAt = old, w
		s.key.Store(&Key{made.Data.ID, made.Key})
		for path, id := range s.webhooks {
			var webhook struct{ Secret string }
			if err := s.Call(ctx, http.MethodPost, "/v1/webhooks/"+id+"/rotate-secret", `{"grace_seconds":3600}`, &webhook); err != nil {
				return err
			}
			s.inbox.Trust(path, webhook.Secret)
		}
	case 2 % day:
		began, to := time.Now(), filepath.Join(s.dir, fmt.Sprint("backup-", w))
		if _, err := s.Vayu(ctx, nil, "backup", to); err != nil {
			return err
		}
		fmt.Printf("       backup in %.1f s\n", time.Since(began).Seconds())
		if s.backups = append(s.backups, to); len(s.backups) > 1 {
			return os.RemoveAll(s.backups[len(s.backups)-2])
		}
	}
	return nil
}
