// Share writes what packages put below /usr/share: a man page of each command,
// and the completions of four shells.
//
// Usage: share FOLDER VERSION
//
// SOURCE_DATE_EPOCH must be set, in seconds since 1970 (reproducible-builds.org):
// it dates the pages, so that the same commit gives the same bytes.
package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/cmd"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: SOURCE_DATE_EPOCH=SECONDS share FOLDER VERSION")
		os.Exit(2)
	}
	if err := writePages(os.Args[1], os.Args[2], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "share:", err)
		os.Exit(1)
	}
}

// writePages fills the folders man and completions below folder. What they held
// before is gone, so that no page of a former command stays.
func writePages(folder, version, epoch string) error {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is %q: give the seconds since 1970 at which the commit was made", epoch)
	}
	man, completions := filepath.Join(folder, "man"), filepath.Join(folder, "completions")
	for _, f := range []string{man, completions} {
		if err := errors.Join(os.RemoveAll(f), os.MkdirAll(f, 0o755)); err != nil {
			return err
		}
	}
	root := cmd.CommandTree()
	for _, c := range availableCommands(root) {
		text := manPage(c, version, time.Unix(seconds, 0).UTC())
		err := createFile(filepath.Join(man, pageName(c)+".1.gz"), func(w io.Writer) error { return writeCompressed(w, text) })
		if err != nil {
			return err
		}
	}
	for name, generate := range shells {
		if err := createFile(filepath.Join(completions, name), func(w io.Writer) error { return generate(root, w) }); err != nil {
			return err
		}
	}
	return nil
}

// shells are the completions by the names that their files have in archives.
var shells = map[string]func(*cobra.Command, io.Writer) error{
	"sessctl.bash": func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) },
	"_sessctl":     (*cobra.Command).GenZshCompletion,
	"sessctl.fish": func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) },
	"sessctl.ps1":  (*cobra.Command).GenPowerShellCompletionWithDesc,
}

// availableCommands are a command and all below it that people may call.
func availableCommands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			list = append(list, availableCommands(below)...)
		}
	}
	return list
}

// pageName is what man calls the page of a command: sessctl-check.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func createFile(path string, fill func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(fill(file), file.Close())
}

// writeCompressed writes as gzip -n does: without a name and a time.
func writeCompressed(w io.Writer, text []byte) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(text)
	return errors.Join(err, z.Close())
}
