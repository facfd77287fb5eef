// Package server is what the readers of databases on servers share: whom a password is asked of,
// and what is said of a server that does not answer.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
)

// asking is the key of what asks for passwords in a context.
type asking struct{}

// WithPassword is a context in which a server that wants a password of a role that has none can
// have it from a person; ask gives "" where nobody can be asked.
func WithPassword(ctx context.Context, ask func(question string) (string, error)) context.Context {
	return context.WithValue(ctx, asking{}, ask)
}

// AskPassword asks for a password; asked is false where nobody can be.
func AskPassword(ctx context.Context, question string) (word string, asked bool, err error) {
	ask, ok := ctx.Value(asking{}).(func(string) (string, error))
	if !ok {
		return "", false, nil
	}
	word, err = ask(question)
	return word, true, err
}

// LostError is the problem with a connection that was lost.
func LostError(name string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err, What: "the connection to " + name + " was lost",
		Next: "Try again. Check the network, and the log of the server.",
	}
}

// UnreachableError is the problem with a server to which no connection can be made; certificates
// is what to do where TLS failed.
func UnreachableError(name, role, certificates string, err error) error {
	why := "it does not answer"
	if refused, ok := errors.AsType[*net.OpError](err); ok {
		why = problem.Reason(refused.Err)
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		why = "the host " + lookup.Name + " is not known"
	}
	if words := strings.ToLower(err.Error()); strings.Contains(words, "tls") || strings.Contains(words, "certificate") {
		why = "TLS failed: " + certificates
	}
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: fmt.Sprintf("%s cannot be reached (role %s): %s", name, role, why),
		Next: "Check host and port, and that the server runs and accepts connections from here.",
	}
}
