package signup

import (
	"context"
	"crypto/tls"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"vayu/internal/sqlstore"
)

const (
	every = time.Minute
	// mailLease is how long an instance has to send a mail. After a failure, another attempt follows at its end.
	mailLease = 5 * time.Minute
	mailLimit = time.Minute // time limit of an attempt
	// eraseLease is the time until a failed erasure is repeated.
	eraseLease = time.Hour
	group      = 100              // rows per query
	sender     = "vayu@localhost" // of mails in files, unless a sender is set
)

//go:embed mail.txt
var text string

// Run sends due mails and erases expired accounts until ctx ends. Mails are rows of the store, so a crash loses none.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := s.process(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "sign-ups cannot be processed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-tick.C:
		}
	}
}

// process sends the due mails, and erases what has expired.
func (s *Service) process(ctx context.Context) error {
	return errors.Join(s.sendDue(ctx), s.eraseExpired(ctx))
}

// claim moves the time at which a row is due, so that no other instance processes the row until then.
func (s *Service) claim(ctx context.Context, column, account string, now time.Time, lease time.Duration) (claimed bool, err error) {
	err = s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		n, err := tx.Exec("UPDATE signup SET "+column+" = $3 WHERE account_id = $1 AND "+column+" <= $2", account, now.UnixMicro(), now.Add(lease).UnixMicro())
		claimed = n == 1
		return err
	})
	return claimed, err
}

// sendDue sends the mails that are due. After a failure it continues with the next mail.
func (s *Service) sendDue(ctx context.Context) error {
	now := s.Now()
	due, err := sqlstore.All(s.DB.View(ctx), func(row sqlstore.Scanner) (p pending, err error) {
		err = row.Scan(&p.account, &p.email, &p.created)
		return p, err
	}, "SELECT account_id, email, created_at FROM signup WHERE mail_due_at <= $1 AND created_at > $2 ORDER BY mail_due_at LIMIT $3",
		now.UnixMicro(), now.Add(-linkLife).UnixMicro(), group)
	if err != nil {
		return fmt.Errorf("reading due mails: %w", err)
	}
	for _, p := range due {
		claimed, err := s.claim(ctx, "mail_due_at", p.account, s.Now(), mailLease) // the mails before it may have taken minutes
		if err != nil {
			return err
		}
		if !claimed {
			continue
		}
		if err := s.send(ctx, p); err != nil {
			s.events.WithLabelValues("mail_failed").Inc()
			s.Log.WarnContext(ctx, "a mail was not sent", "account", p.account, "error", strings.ReplaceAll(err.Error(), p.email, "***"))
			continue
		}
		s.events.WithLabelValues("mail_sent").Inc()
		if err := s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			_, err := tx.Exec("UPDATE signup SET mail_due_at = NULL WHERE account_id = $1", p.account)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// send sends the link of a sign-up, or writes the mail to a file if there is no mail server.
func (s *Service) send(ctx context.Context, p pending) error {
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	from := s.From
	if from == "" {
		from = sender
	}
	if err := errors.Join(m.From(from), m.To(p.email)); err != nil {
		return err
	}
	m.Subject("Vayu: confirm your e-mail address · ई-मेल पते की पुष्टि करें")
	m.SetDateWithValue(s.Now())
	m.SetMessageID()
	m.SetBodyString(mail.TypeTextPlain, strings.ReplaceAll(text, "LINK", s.BaseURL()+"/dashboard/signup/confirm#"+s.token(p)))
	if s.SMTP == "" {
		return s.write(ctx, m, p.account)
	}
	client, err := newClient(string(s.SMTP))
	if err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, mailLimit)
	defer done()
	return client.DialAndSendWithContext(ctx, m)
}

// newClient returns a client of a mail server. TLS is mandatory, unless the server is on this machine.
func newClient(address string) (*mail.Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the mail server is invalid") // err would show the password
	}
	policy := mail.TLSMandatory
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		policy = mail.TLSOpportunistic
	}
	options := []mail.Option{
		mail.WithTLSPortPolicy(policy), mail.WithTimeout(mailLimit), mail.WithTLSConfig(&tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}),
	}
	if u.Scheme == "smtps" {
		options = append(options, mail.WithSSLPort(false))
	}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		options = append(options, mail.WithPort(port))
	}
	if password, ok := u.User.Password(); ok {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(u.User.Username()), mail.WithPassword(password))
	}
	return mail.NewClient(u.Hostname(), options...)
}

// write writes a mail to a file in the data directory. The file can confirm the account, so only its owner may read it.
func (s *Service) write(ctx context.Context, m *mail.Msg, account string) error {
	path := filepath.Join(s.Data, "mail", account+".eml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = m.WriteTo(file)
	if err = errors.Join(err, file.Close()); err == nil {
		s.Log.InfoContext(ctx, "no mail server is set, so a mail is in a file", "file", path)
	}
	return err
}

// eraseExpired erases the accounts whose address was not confirmed in time, and the invite codes that have expired.
func (s *Service) eraseExpired(ctx context.Context) error {
	now := s.Now()
	expired, err := sqlstore.All(s.DB.View(ctx), sqlstore.Scalar[string], "SELECT account_id FROM signup WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2", now.UnixMicro(), group)
	if err != nil {
		return fmt.Errorf("reading expired sign-ups: %w", err)
	}
	for _, id := range expired {
		claimed, err := s.claim(ctx, "expires_at", id, now, eraseLease)
		if err == nil && claimed {
			if err = s.Erase(ctx, id); err == nil {
				s.events.WithLabelValues("erased").Inc()
				err = os.RemoveAll(filepath.Join(s.Data, "mail", id+".eml"))
			}
		}
		if err != nil {
			return err
		}
	}
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("DELETE FROM signup_invite WHERE expires_at <= $1", now.UnixMicro())
		return err
	})
}
