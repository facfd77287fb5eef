package main

// more are sections of pages that the help of a command has no room for, in the
// form of that help.
var more = map[string]string{
	"sessctl": `ENVIRONMENT
  SESSCTL_OPTION  the value of --option, in every command that has it: the hyphens of
    its name become underscores. --fail-on is SESSCTL_FAIL_ON. A list is parted by
    commas.
  XDG_CONFIG_HOME  where the configuration file is sought; $HOME/.config if not set
  NO_COLOR  if set, no colour is used
  CLICOLOR_FORCE  if set to anything but 0, colour is used where standard output is no
    terminal, too
  COLUMNS  the width of the text; that of the terminal if not set, and 80 elsewhere
  TMPDIR  where a store is copied to that cannot be read in its place without a trace

FILES
  .sessctl.yaml  settings of a project, in the folder where sessctl is started
  ~/.config/sessctl/config.yaml  settings of a user; read where the project has none
  STORE.sessctl-TIME  a store as it was before a repair, beside it
  STORE.sessctl-TIME.receipt.json  what a repair did, and what it took out of the store`,
}
