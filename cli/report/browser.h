/* $BROWSER, as xdg-open and others read it: commands between colons, each with its own words; %s is the page. */
#ifndef CLI_REPORT_BROWSER_H
#define CLI_REPORT_BROWSER_H

/*
 * Starts the first command of a list that can be started, and does not wait for it.
 *
 * @param list  "firefox --new-tab %s:lynx"; a command without %s gets the page as its last word
 * @param page  an absolute path
 * @return 0, or why the last one of them could not be started
 */
int report_browser_start(const char *list, const char *page);

#endif
